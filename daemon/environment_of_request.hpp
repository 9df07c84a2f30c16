// The environment a request is about, and what is installed there.
#pragma once

#include "base/result.hpp"
#include "protocol/caller.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cudaenv::daemon {

// --prefix, or --name looked up where conda keeps environments, or the active one; empty where none
// is meant. Errors: "no-such-environment", "bad-field".
Result<std::string> prefix_of(const nlohmann::json& params, const protocol::Caller& caller);

// "name==version" of the conda packages and of the Python distributions in `prefix`, sorted; empty
// where it is no environment. Names only are read: of conda-meta/*.json and of *.dist-info.
std::vector<std::string> installed_in(const std::string& prefix);

} // namespace cudaenv::daemon
