// The environment that -p, -n or the shell means: a directory that is one, else what the daemon
// finds.
#pragma once

#include "base/result.hpp"
#include "protocol/caller.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace cudaenv::cli {

enum class EnvironmentKind { Conda, Venv };

struct NamedEnvironment {
    std::string prefix; // absolute
    std::string name;
    EnvironmentKind kind = EnvironmentKind::Conda;
};

// `params` has `prefix` or `name`, or neither: the active one. Errors: "no-such-environment",
// "no-environment" if none is given and none is active.
Result<NamedEnvironment> named_environment(const nlohmann::json& params,
                                           const protocol::Caller& caller);

} // namespace cudaenv::cli
