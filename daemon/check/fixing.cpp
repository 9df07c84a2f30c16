#include "daemon/check/fixing.hpp"

#include "base/fingerprint.hpp"
#include "base/json_bytes.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "check/repair/installer_at_work.hpp"
#include "check/repair/package_caches.hpp"
#include "daemon/check/finding_json.hpp"
#include "host/environment.hpp"
#include "protocol/json_field.hpp"

#include <algorithm>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

// The program of that name on the caller's PATH; empty: not found.
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
    : m_examination(&examination),
      m_caller(&caller), m_programs{on_path(caller, "uv"), conda_of(caller)} {
    for (rules::CheckFinding& found : examination.findings()) {
        if (choice.wants(found.finding.code, examination.config())) {
            m_fails = m_fails || choice.names_codes() || !found.repairs.empty() ||
                      choice.fails_on(found.finding.severity);
            m_findings.push_back(std::move(found));
        }
    }
    examination.withhold_harmful(m_findings);
    m_steps = repair::steps_of(m_findings);
    std::string whole = examination.inventory().prefix;
    for (const repair::RepairStep& step : m_steps) {
        whole += '\n' + rules::identity_of(step.repair, examination.inventory());
    }
    m_fingerprint = ::cudaenv::fingerprint(whole);
}

std::set<std::string> Fixing::files() const {
    std::set<std::string> files;
    for (const rules::CheckFinding& found : m_findings) {
        files.insert(found.files.begin(), found.files.end());
    }
    return files;
}

nlohmann::json Fixing::step_object(const repair::RepairStep& step) const {
    std::vector<std::string> codes;
    for (const std::size_t finding : step.findings) {
        add_once(codes, m_findings[finding].finding.code);
    }
    nlohmann::json object = {{"code", codes.front()},
                             {"codes", codes},
                             {"text", protocol::bytes_to_json(printable(rules::words_of(
                                          step.repair, m_examination->inventory())))},
                             {"done", false},
                             {"error", nullptr},
                             {"note", nullptr},
                             {"way_out", nullptr},
                             {"command", nullptr}};
    if (auto command =
            repair::client_command(step.repair, m_examination->inventory(), m_programs)) {
        if (!command->problem.empty()) {
            object["error"] = std::move(command->problem);
        } else {
            object["command"] = protocol::bytes_to_json(command->words);
        }
    }
    return object;
}

nlohmann::json Fixing::object() const {
    auto steps =
        json_list(m_steps, [&](const repair::RepairStep& step) { return step_object(step); });
    ListRoom room;
    auto left = json_list(m_findings, [&](const rules::CheckFinding& found) {
        return to_json(found, m_examination->inventory(), room);
    });
    return {{"schema", "cudaenv.fix/1"},
            {"environment", protocol::bytes_to_json(m_examination->inventory().prefix)},
            {"steps", std::move(steps)},
            {"left", std::move(left)},
            {"plan", m_fingerprint}};
}

Result<void> Fixing::check_nobody_at_work() const {
    if (const auto installer = repair::installer_at_work(m_examination->inventory().prefix)) {
        return unavailable("installer-at-work",
                           installer->name + " is running in this environment (process " +
                               installer->process + "): nothing was changed",
                           "run `cudaenv check --fix` again when it has ended");
    }
    return {};
}

Result<Fixing::Done> Fixing::carry_out(const GoesOn& wanted) {
    const facts::Inventory& inventory = m_examination->inventory();
    CUDAENV_TRY_VOID(check_nobody_at_work());
    repair::RepairPlaces places{memories_of(*m_caller).directory(),
                                repair::package_caches(m_caller->environment,
                                                       m_caller->variable("HOME").value_or(""),
                                                       inventory.prefix),
                                {.groups = m_examination->config().trusted_groups()}};
    places.trust.add_owner_of(inventory.prefix);
    CUDAENV_TRY(auto carried,
                repair::carry_out(inventory, m_examination->claims(), m_steps, places, wanted));
    const auto& outcomes = carried.outcomes;
    nlohmann::json done = object();
    std::vector<bool> failed(m_findings.size(), false);
    const auto blocked = [&](const repair::RepairStep& step) {
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
            step["error"] = protocol::bytes_to_json(printable(outcomes[i].error));
            if (auto command = repair::way_out(m_steps[i].repair, inventory, m_programs);
                !command.empty()) {
                step["way_out"] = std::move(command);
            }
        } else if (!outcomes[i].done && blocked(m_steps[i])) {
            step["note"] = "not done: another step for the same finding failed";
            step["command"] = nullptr;
        } else if (!outcomes[i].note.empty()) {
            step["note"] = protocol::bytes_to_json(printable(outcomes[i].note));
        }
    }
    return Done{std::move(done), std::move(carried)};
}

void Fixing::undo(Done& done, const std::string& why) {
    const auto undone = done.carried.take_back();
    for (nlohmann::json& step : done.object["steps"]) {
        if (step["done"] == true || !step["command"].is_null()) {
            step["done"] = false;
            step["command"] = nullptr;
            step["error"] = protocol::bytes_to_json(
                printable(undone ? "undone: " + why : undone.error().message));
        }
    }
}

} // namespace cudaenv::daemon
