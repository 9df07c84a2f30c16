#include "daemon/check/fixing.hpp"

#include "base/fingerprint.hpp"
#include "base/private_files.hpp"
#include "base/shell_word.hpp"
#include "daemon/check/finding_json.hpp"
#include "host/environment.hpp"
#include "host/repair/installer_at_work.hpp"
#include "host/repair/package_caches.hpp"
#include "protocol/json_field.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/printable.hpp"

#include <algorithm>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

using plan::Repair;

// The program of that name on the caller's PATH; empty: there is none.
std::string on_path(const protocol::Caller& caller, const std::string& name) {
    for (const auto& directory : host::directories_of(caller.variable("PATH").value_or(""))) {
        std::string program = directory + '/';
        program += name;
        if (::access(program.c_str(), X_OK) == 0) {
            return program;
        }
    }
    return {};
}

std::string conda_of(const protocol::Caller& caller) {
    for (const char* name : {"CONDA_EXE", "MAMBA_EXE"}) {
        const std::string program = caller.variable(name).value_or("");
        if (!program.empty() && ::access(program.c_str(), X_OK) == 0) {
            return program.substr(program.rfind('/') + 1);
        }
    }
    for (const char* name : {"conda", "mamba", "micromamba"}) {
        if (!on_path(caller, name).empty()) {
            return name;
        }
    }
    return "conda";
}

} // namespace

Fixing::Fixing(const Examination& examination, const FindingChoice& choice,
               const protocol::Caller& caller)
    : m_examination(&examination), m_caller(&caller) {
    for (plan::CheckFinding& found : examination.findings()) {
        if (choice.wants(found.finding.code, examination.config())) {
            m_fails = m_fails || choice.names_codes() || !found.repairs.empty() ||
                      choice.fails_on(found.finding.severity);
            m_findings.push_back(std::move(found));
        }
    }
    m_steps = host::steps_of(m_findings);
    std::string whole = examination.inventory().prefix;
    for (const host::RepairStep& step : m_steps) {
        whole += '\n' + words_of(step.repair, examination.inventory()) + '\n' + step.repair.path;
        for (const std::string& file : step.repair.files) {
            whole += '\n' + file;
        }
    }
    m_fingerprint = ::cudaenv::fingerprint(whole);
}

std::vector<std::string> Fixing::install_command(const Repair& repair) const {
    const facts::Inventory& inventory = m_examination->inventory();
    const std::string python = inventory.prefix + '/' + inventory.python;
    const std::string what = repair.distribution + "==" + repair.version;
    const bool has_pip = std::ranges::any_of(inventory.distributions,
                                             [](const auto& one) { return one.name == "pip"; });
    if (has_pip) {
        return {python, "-m", "pip", "install", "--no-deps", "--force-reinstall", what};
    }
    const std::string uv = on_path(*m_caller, "uv");
    if (uv.empty()) {
        return {};
    }
    return {uv, "pip", "install", "--python", python, "--no-deps", "--reinstall", what};
}

std::string Fixing::conda_command(const Repair& repair) const {
    const facts::CondaPackage& package = m_examination->inventory().conda[repair.package];
    const auto what = plan::conda_requirement(package.name, package.version, package.build);
    return what.empty() ? std::string()
                        : conda_of(*m_caller) + " install -p " +
                              shell_word(m_examination->inventory().prefix) +
                              " --force-reinstall " + shell_word(what);
}

nlohmann::json Fixing::step_object(const host::RepairStep& step) const {
    nlohmann::json codes = nlohmann::json::array();
    for (const std::size_t finding : step.findings) {
        const std::string& code = m_findings[finding].finding.code;
        if (std::find(codes.begin(), codes.end(), code) == codes.end()) {
            codes.push_back(code);
        }
    }
    nlohmann::json object = {{"code", codes.front()},
                             {"codes", codes},
                             {"text", protocol::bytes_to_json(plan::printable(
                                          words_of(step.repair, m_examination->inventory())))},
                             {"done", false},
                             {"error", nullptr},
                             {"note", nullptr},
                             {"way_out", nullptr},
                             {"command", nullptr}};
    if (step.repair.kind == Repair::Kind::ReinstallPip) {
        const facts::Inventory& inventory = m_examination->inventory();
        const auto command = install_command(step.repair);
        if (is_anothers_place(inventory.prefix + '/' + inventory.python)) {
            object["error"] = "it runs the Python of another user's environment, which root does "
                              "not do; its owner can";
        } else if (command.empty()) {
            object["error"] = "the environment has no pip, and uv is not on PATH";
        } else {
            object["command"] = nlohmann::json::array();
            for (const std::string& word : command) {
                object["command"].push_back(protocol::bytes_to_json(word));
            }
        }
    }
    return object;
}

nlohmann::json Fixing::object() const {
    nlohmann::json steps = nlohmann::json::array();
    for (const host::RepairStep& step : m_steps) {
        steps.push_back(step_object(step));
    }
    nlohmann::json left = nlohmann::json::array();
    ListRoom room;
    for (const plan::CheckFinding& found : m_findings) {
        left.push_back(to_json(found, m_examination->inventory(), room));
    }
    return {{"schema", "cudaenv.fix/1"},
            {"environment", protocol::bytes_to_json(m_examination->inventory().prefix)},
            {"steps", std::move(steps)},
            {"left", std::move(left)},
            {"plan", m_fingerprint}};
}

Result<nlohmann::json> Fixing::carry_out(const GoesOn& wanted) {
    const facts::Inventory& inventory = m_examination->inventory();
    if (const auto installer = host::installer_at_work(inventory.prefix)) {
        return unavailable("installer-at-work",
                           installer->name + " is at work in this environment (process " +
                               installer->process + "): nothing was changed",
                           "`cudaenv check --fix` again when it is done");
    }
    host::RepairPlaces places{memories_of(*m_caller).directory(),
                              host::package_caches(m_caller->environment,
                                                   m_caller->variable("HOME").value_or(""),
                                                   inventory.prefix),
                              {.groups = m_examination->config().trusted_groups()}};
    places.trust.add_owner_of(inventory.prefix);
    CUDAENV_TRY(const auto outcomes,
                host::carry_out(inventory, m_examination->claims(), m_steps, places, wanted));
    nlohmann::json done = object();
    std::vector<bool> failed(m_findings.size(), false);
    const auto blocked = [&](const host::RepairStep& step) {
        return std::ranges::any_of(step.findings,
                                   [&](std::size_t finding) { return failed[finding]; });
    };
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        for (const std::size_t finding : m_steps[i].findings) {
            failed[finding] = failed[finding] || !outcomes[i].error.empty();
        }
    }
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        nlohmann::json& step = done["steps"][i];
        step["done"] = outcomes[i].done;
        if (!outcomes[i].error.empty()) {
            step["error"] = protocol::bytes_to_json(plan::printable(outcomes[i].error));
            if (m_steps[i].repair.kind == Repair::Kind::RestoreConda) {
                if (auto command = conda_command(m_steps[i].repair); !command.empty()) {
                    step["way_out"] = std::move(command);
                }
            }
        } else if (!outcomes[i].done && blocked(m_steps[i])) {
            step["note"] = "left: it belongs with a step that failed";
            step["command"] = nullptr;
        } else if (!outcomes[i].note.empty()) {
            step["note"] = protocol::bytes_to_json(plan::printable(outcomes[i].note));
        }
    }
    return done;
}

} // namespace cudaenv::daemon
