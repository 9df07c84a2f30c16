// The environment a request is about, and what is installed there.
#pragma once

#include "base/result.hpp"
#include "daemon/looks.hpp"
#include "protocol/caller.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cudaenv::daemon {

// Asked before a request is looked at. Errors: "silent-file-system", where the working directory,
// the environment or the user's configuration lies on a file system that does not answer: whoever
// reads there waits as long.
Result<void> places_answer(const nlohmann::json& params, const protocol::Caller& caller);

struct MeantEnvironment {
    std::string prefix;             // empty: no environment
    std::vector<std::string> notes; // of broken condarc files, where a name was looked up
};

// --prefix, or --name as conda, mamba and pixi find it (host/names), or the active one. Errors:
// "no-such-environment", "ambiguous-environment", "bad-field"; "wants-variables"
// (protocol/message.hpp).
Result<MeantEnvironment> environment_of_request(const nlohmann::json& params,
                                                const protocol::Caller& caller, Looks& looks);
// For a caller that reads nothing else.
Result<MeantEnvironment> environment_of_request(const nlohmann::json& params,
                                                const protocol::Caller& caller);

// By --prefix or --name: not the active one.
bool names_environment(const nlohmann::json& params);

// "base", or the name of its directory.
std::string shown_name_of(const std::string& prefix, const protocol::Caller& caller, Looks& looks);
std::string shown_name_of(const std::string& prefix, const protocol::Caller& caller);

} // namespace cudaenv::daemon
