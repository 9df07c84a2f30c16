#include "daemon/check/examination.hpp"
#include "daemon/check/finding_choice.hpp"
#include "daemon/check/finding_json.hpp"
#include "daemon/heartbeat.hpp"
#include "daemon/methods/json_values.hpp"
#include "daemon/methods/methods.hpp"
#include "protocol/json_field.hpp"

namespace cudaenv::daemon {

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

} // namespace cudaenv::daemon
