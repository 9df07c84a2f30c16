#include "check/rules/constraints.hpp"

#include "daemon/check/examination.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/project_of_request.hpp"

namespace cudaenv::daemon {

namespace {

// How pip of the environment would take an own pip.conf; null: the environment has no pip.
nlohmann::json pip_of(const facts::Inventory& inventory) {
    for (const facts::Distribution& one : inventory.distributions) {
        if (one.name == "pip") {
            const rules::BuildsApart apart = rules::builds_apart(one.version);
            return {{"version", protocol::bytes_to_json(one.version)},
                    {"builds_apart", apart == rules::BuildsApart::Never       ? "never"
                                     : apart == rules::BuildsApart::ByFeature ? "by_feature"
                                                                              : "always"}};
        }
    }
    return nullptr;
}

} // namespace

// Params: those of Examination. Where the setting is off nothing else is looked at.
Result<protocol::Reply> constraints(const nlohmann::json& params, const protocol::Caller& caller,
                                    Machine& machine, const Waiter&) {
    CUDAENV_TRY(const auto project, project_of(params, caller));
    if (project.config.constraints() != "env") {
        return protocol::Reply{0,
                               {{"schema", "cudaenv.constraints/1"},
                                {"setting", project.config.constraints()},
                                {"pip", nullptr},
                                {"pip_lines", nlohmann::json::array()},
                                {"conda_lines", nlohmann::json::array()}}};
    }
    CUDAENV_TRY(const auto examination,
                Examination::of(params, caller, machine, rules::CheckDepth::Records));
    const rules::Constraints found = rules::constraints_of(
        examination->inventory(), examination->ownership(), project.pins.pins);
    return protocol::Reply{0,
                           {{"schema", "cudaenv.constraints/1"},
                            {"setting", project.config.constraints()},
                            {"pip", pip_of(examination->inventory())},
                            {"pip_lines", found.pip},
                            {"conda_lines", found.conda}}};
}

} // namespace cudaenv::daemon
