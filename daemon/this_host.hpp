// This machine, examined for a caller: their environment, their home, their configured directories.
#pragma once

#include "host/file_system.hpp"
#include "protocol/caller.hpp"
#include "solver/facts/host.hpp"

#include <string>
#include <vector>

namespace cudaenv::daemon {

facts::Host this_host(const protocol::Caller& caller,
                      const std::vector<std::string>& toolkit_directories, host::FileSystem& files);

// cudaenv-probe beside this program, or where a build tree has it; empty where it is in neither.
std::string probe_beside_this_program();

} // namespace cudaenv::daemon
