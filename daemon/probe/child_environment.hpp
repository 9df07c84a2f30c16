// The variables that cudaenv-probe and what --build starts run with.
#pragma once

#include "host/probe/loader_directories.hpp"
#include "protocol/caller.hpp"
#include "shellhooks/patch/patch.hpp"

#include <string>
#include <vector>

namespace cudaenv::daemon {

// What has to do with this program alone is not the children's. They run in another directory than
// the shell: what LD_LIBRARY_PATH, LD_PRELOAD and LD_AUDIT have of relative paths is made absolute,
// and LD_LIBRARY_PATH's tokens are what they are to the environment's programs.
std::vector<std::string> child_environment(patch::Variables variables,
                                           const protocol::Caller& caller,
                                           const probe::LoaderTokens& tokens);

} // namespace cudaenv::daemon
