#include "daemon/check/fixing.hpp"
#include "daemon/heartbeat.hpp"
#include "daemon/methods/methods.hpp"
#include "protocol/json_field.hpp"

namespace cudaenv::daemon {

namespace {

// Params: those of `check`. Says what would be done; with `carry_out` it is done, where the plan is
// still that of the fingerprint `plan`, but for steps that have a `command`: those are the
// client's, which has the user's whole environment.
Result<protocol::Reply> check_fix(const nlohmann::json& params, const protocol::Caller& caller,
                                  Machine& machine, const Waiter& waiter) {
    CUDAENV_TRY(const auto choice, FindingChoice::of(params));
    CUDAENV_TRY(const bool carries_out, protocol::bool_field(params, "carry_out", false));
    CUDAENV_TRY(const auto shown, protocol::string_field(params, "plan"));
    Heartbeat heartbeat(waiter, "files");
    CUDAENV_TRY(const auto examination,
                Examination::of(params, caller, machine, plan::CheckDepth::Everything,
                                heartbeat.goes_on()));
    Fixing fixing(*examination, choice, caller);
    if (!carries_out) {
        host::clear_interrupted(examination->inventory().prefix);
        if (fixing.has_steps()) {
            CUDAENV_TRY_VOID(host::check_writable(examination->inventory()));
        }
        memories_of(caller).write(examination->inventory().prefix, examination->memory_now());
        return protocol::Reply{fixing.fails() ? 1 : 0, fixing.object()};
    }
    if (shown != fixing.fingerprint()) {
        return unavailable("changed", "the environment has changed since the steps were shown",
                           "the same command shows them anew");
    }
    CUDAENV_TRY(auto done, fixing.carry_out(heartbeat.goes_on()));
    return protocol::Reply{0, std::move(done)};
}

} // namespace

void add_check_fix_methods(Service& service, const std::shared_ptr<Machine>& machine) {
    service.add_stoppable(
        "check.fix",
        [machine](const nlohmann::json& params, const protocol::Caller& caller,
                  const Waiter& waiter) { return check_fix(params, caller, *machine, waiter); },
        Lane::Long);
}

} // namespace cudaenv::daemon
