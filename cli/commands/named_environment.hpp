// Which environment -p, -n or the shell means: a directory that is one, else as the daemon finds
// it.
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
// "no-environment" where none is named and none is active.
Result<NamedEnvironment> named_environment(const nlohmann::json& params,
                                           const protocol::Caller& caller);

} // namespace cudaenv::cli
