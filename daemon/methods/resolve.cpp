#include "daemon/methods/methods.hpp"
#include "daemon/resolution.hpp"
#include "solver/plan/outcome_json.hpp"

namespace cudaenv::daemon {

namespace {

// `resolve` and `explain` give the same object: what differs is how much of it is shown.
Result<protocol::Reply> resolve(const nlohmann::json& params, const protocol::Caller& caller,
                                bool told_in_full) {
    CUDAENV_TRY(const auto resolution, resolve_for(params, caller, told_in_full));
    nlohmann::json object = plan::to_json(resolution.outcome);
    object["remarks"] = resolution.notes;
    object["explain"] = told_in_full;
    return protocol::Reply{resolution.outcome.solved() ? 0 : 1, std::move(object)};
}

} // namespace

void add_resolve_methods(Service& service) {
    service.add("resolve", [](const nlohmann::json& params, const protocol::Caller& caller) {
        return resolve(params, caller, false);
    });
    service.add("explain", [](const nlohmann::json& params, const protocol::Caller& caller) {
        return resolve(params, caller, true);
    });
}

} // namespace cudaenv::daemon
