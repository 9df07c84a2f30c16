#include "base/json_bytes.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/resolution.hpp"
#include "solver/resolve/outcome_json.hpp"

namespace cudaenv::daemon {

namespace {

nlohmann::json driver_to_json(const std::optional<facts::Driver>& driver) {
    if (!driver) {
        return nullptr;
    }
    return {{"version", value_or_null(driver->version)},
            {"cuda", value_or_null(driver->cuda)},
            {"measured", driver->measured},
            {"source", text_or_null(driver->source)}};
}

nlohmann::json environment_to_json(const resolve::KnownEnvironment& environment) {
    if (!environment.exists()) {
        return nullptr;
    }
    const bool conda = environment.target.kind == knowledge::Target::Kind::Conda;
    return {{"prefix", environment.target.prefix},
            {"kind", conda ? "conda" : "venv"},
            {"shown", environment.shown},
            {"python", value_or_null(environment.python)}};
}

// `resolve` and `explain` give the same object: what differs is how much of it is shown.
Result<protocol::Reply> resolved(const nlohmann::json& params, const protocol::Caller& caller,
                                 bool told_in_full) {
    CUDAENV_TRY(const auto resolution, resolve_for(params, caller, told_in_full));
    nlohmann::json object = resolve::to_json(resolution.outcome);
    object["driver"] = driver_to_json(resolution.driver);
    object["environment"] = environment_to_json(resolution.environment);
    object["remarks"] = resolution.notes;
    object["explain"] = told_in_full;
    return protocol::Reply{resolution.outcome.solved() ? 0 : 1, std::move(object)};
}

} // namespace

Result<protocol::Reply> resolve(const nlohmann::json& params, const protocol::Caller& caller,
                                Machine&, const Waiter&) {
    return resolved(params, caller, false);
}

Result<protocol::Reply> explain(const nlohmann::json& params, const protocol::Caller& caller,
                                Machine&, const Waiter&) {
    return resolved(params, caller, true);
}

} // namespace cudaenv::daemon
