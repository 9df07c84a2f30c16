#include "base/fingerprint.hpp"
#include "base/goes_on.hpp"
#include "base/json_bytes.hpp"
#include "base/printable.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "check/repair/conda_source.hpp"
#include "check/repair/installer_at_work.hpp"
#include "check/repair/repair.hpp"
#include "daemon/check/examination.hpp"
#include "daemon/check/finding_choice.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/waiter.hpp"
#include "host/environment.hpp"
#include "protocol/json_field.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace cudaenv::daemon {

namespace {

// What `check --fix` would do about an environment, and doing it. Law: what is done is what was
// shown: a plan goes by a fingerprint, and another one is not carried out.
class Fixing {
public:
    // Of the findings that were chosen.
    Fixing(const Examination& examination, const FindingChoice& choice,
           const protocol::Caller& caller);

    // `cudaenv.fix/1`: all steps not done, and the findings as they are.
    [[nodiscard]] nlohmann::json object() const;
    [[nodiscard]] bool has_steps() const { return !m_steps.empty(); }
    // Error: "installer-at-work".
    [[nodiscard]] Result<void> check_nobody_at_work() const;
    // Whether a finding is there that was named, that could be fixed, or that the request fails on.
    [[nodiscard]] bool fails() const { return m_fails; }
    [[nodiscard]] const std::string& fingerprint() const { return m_fingerprint; }
    // That the findings name, relative to the prefix.
    [[nodiscard]] std::set<std::string> files() const;
    // Does all but what is a command of the client's; the same object, with what was done. Errors:
    // those of carry_out.
    struct Done {
        nlohmann::json object; // with what was done
        repair::Carried carried;
    };
    Result<Done> carry_out(const GoesOn& wanted);
    // All of them are undone, and why is said of each.
    static void undo(Done& done, const std::string& why);

private:
    [[nodiscard]] nlohmann::json step_object(const repair::RepairStep& step) const;

    const Examination* m_examination;
    const protocol::Caller* m_caller;
    repair::UserPrograms m_programs;
    std::vector<rules::CheckFinding> m_findings;
    std::vector<repair::RepairStep> m_steps;
    std::string m_fingerprint;
    bool m_fails = false;
};

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

// What was shown last. `check --fix` asks three questions over one connection, of a daemon that is
// its own child: the steps, to have them done, and what is left.
struct Shown {
    std::string prefix;
    std::string plan;
    std::set<std::string> files; // that its findings name
    std::string stamp;           // of them
    Seen seen;
};

class LastShown {
public:
    std::optional<Shown> take() {
        const std::lock_guard lock(m_guard);
        return std::exchange(m_shown, std::nullopt);
    }
    void keep(Shown shown) {
        const std::lock_guard lock(m_guard);
        m_shown = std::move(shown);
    }

private:
    std::mutex m_guard;
    std::optional<Shown> m_shown;
};

// A change of a file changes it.
std::string stamp_of(const std::string& prefix, const std::set<std::string>& files) {
    std::string stamp;
    for (const std::string& file : files) {
        struct stat status {};
        const std::string path = file.starts_with('/') ? file : prefix + '/' + file;
        if (::lstat(path.c_str(), &status) != 0) {
            stamp += '-';
            continue;
        }
        for (const auto number :
             {static_cast<std::int64_t>(status.st_ino), static_cast<std::int64_t>(status.st_size),
              static_cast<std::int64_t>(status.st_mtim.tv_sec),
              static_cast<std::int64_t>(status.st_mtim.tv_nsec),
              static_cast<std::int64_t>(status.st_ctim.tv_sec),
              static_cast<std::int64_t>(status.st_ctim.tv_nsec)}) {
            stamp += std::to_string(number) + ' ';
        }
    }
    return fingerprint(stamp);
}

// Params: those of `check`. Says what would be done; with `carry_out` it is done, where the plan is
// still that of the fingerprint `plan`, except steps that have a `command`: those are the client's,
// which has the user's whole environment. With `plan` alone: what is left after that plan.
Result<protocol::Reply> check_fix(const nlohmann::json& params, const protocol::Caller& caller,
                                  Machine& machine, const Waiter& waiter, LastShown& last) {
    CUDAENV_TRY(const auto choice, FindingChoice::of(params));
    CUDAENV_TRY(const bool carries_out, protocol::bool_field(params, "carry_out", false));
    CUDAENV_TRY(const auto plan, protocol::string_field(params, "plan"));
    Heartbeat heartbeat(waiter, "files");
    auto shown = last.take();
    Earlier earlier;
    if (shown && shown->plan == plan) {
        earlier.seen = &shown->seen;
        earlier.files_unchanged =
            carries_out && stamp_of(shown->prefix, shown->files) == shown->stamp;
    }
    CUDAENV_TRY(auto examination,
                Examination::of(params, caller, machine, rules::CheckDepth::Everything,
                                heartbeat.goes_on(), earlier));
    const std::string prefix = examination->inventory().prefix;
    Fixing fixing(*examination, choice, caller);
    CUDAENV_TRY_VOID(fixing.check_nobody_at_work());
    auto files = fixing.files();
    Shown now{prefix, fixing.fingerprint(), files, {}, examination->seen()};
    if (!carries_out) {
        repair::clear_interrupted(prefix);
        if (fixing.has_steps()) {
            CUDAENV_TRY_VOID(repair::check_writable(examination->inventory()));
            now.stamp = stamp_of(prefix, files);
            last.keep(std::move(now));
        }
        memories_of(caller).write(prefix, examination->memory_now());
        return protocol::Reply{fixing.fails() ? 1 : 0, fixing.object()};
    }
    if (plan != fixing.fingerprint()) {
        return unavailable("changed", "the environment has changed since the steps were shown",
                           "run the same command again");
    }
    CUDAENV_TRY(auto done, fixing.carry_out(heartbeat.goes_on()));
    const auto unmet = examination->unmet();
    const auto findings = examination->findings();
    examination.reset(); // one examination of an environment at a time
    const auto after = Examination::of(params, caller, machine, rules::CheckDepth::Everything, {},
                                       {.seen = &now.seen});
    const std::string worse =
        after ? rules::worse_of(unmet, findings, (*after)->unmet(), (*after)->findings())
              : after.error().message;
    if (!worse.empty()) {
        Fixing::undo(done, worse);
    }
    now.stamp = stamp_of(prefix, files);
    last.keep(std::move(now));
    return protocol::Reply{0, std::move(done.object)};
}

} // namespace

// Params: those of Examination and of FindingChoice.
Result<protocol::Reply> check(const nlohmann::json& params, const protocol::Caller& caller,
                              Machine& machine, const Waiter& waiter) {
    CUDAENV_TRY(const auto choice, FindingChoice::of(params));
    Heartbeat heartbeat(waiter, "files");
    CUDAENV_TRY(const auto examination,
                Examination::of(params, caller, machine, rules::CheckDepth::Everything,
                                heartbeat.goes_on()));
    CUDAENV_TRY(const auto accepting, protocol::strings_field(params, "accept"));
    CUDAENV_TRY(const bool all, protocol::bool_field(params, "all", false));
    CUDAENV_TRY(const auto memory, examination->memory_accepting(accepting));
    const auto is_accepted = [&](const rules::CheckFinding& found) {
        return std::ranges::find(memory.accepted, key_of(found), &memory::AcceptedFinding::key) !=
               memory.accepted.end();
    };
    std::size_t accepted = 0;
    nlohmann::json findings = nlohmann::json::array();
    std::size_t left_out = 0;
    ListRoom room;
    bool fails = false;
    for (const rules::CheckFinding& found : examination->findings(Accepted::Included)) {
        if (is_accepted(found)) {
            ++accepted;
            if (!all) {
                continue;
            }
        }
        if (!choice.wants(found.finding.code, examination->config())) {
            left_out += choice.names_codes() ? 0 : 1;
            continue;
        }
        fails = fails || (!is_accepted(found) && choice.fails_on(found.finding.severity));
        findings.push_back(to_json(found, examination->inventory(), room));
        findings.back()["accepted"] = is_accepted(found);
    }
    const facts::Inventory& inventory = examination->inventory();
    std::size_t files = 0;
    for (const auto& package : inventory.conda) {
        files += package.files.size();
    }
    for (const auto& distribution : inventory.distributions) {
        files += distribution.files.size();
    }
    nlohmann::json unread = nlohmann::json::array();
    for (const facts::InventoryNote& note : inventory.notes) {
        if (!room.takes(note.path.size() + note.reason.size())) {
            break;
        }
        unread.push_back({{"path", protocol::bytes_to_json(note.path)},
                          {"reason", protocol::bytes_to_json(note.reason)}});
    }
    if (!memories_of(caller).write(inventory.prefix, memory) && !accepting.empty()) {
        return unavailable("no-state", "it cannot be remembered that this is accepted",
                           "set CUDAENV_STATE_DIR or HOME");
    }
    return protocol::Reply{fails ? 1 : 0,
                           {{"schema", "cudaenv.check/1"},
                            {"environment", protocol::bytes_to_json(inventory.prefix)},
                            {"conda_packages", inventory.conda.size()},
                            {"distributions", inventory.distributions.size()},
                            {"files", files},
                            {"findings", std::move(findings)},
                            {"ignored", left_out},
                            {"accepted", accepted},
                            {"unread", std::move(unread)},
                            {"unread_count", inventory.notes.size()}}};
}

Handler check_fix_method() {
    return [last = std::make_shared<LastShown>()](
               const nlohmann::json& params, const protocol::Caller& caller, Machine& machine,
               const Waiter& waiter) { return check_fix(params, caller, machine, waiter, *last); };
}

} // namespace cudaenv::daemon
