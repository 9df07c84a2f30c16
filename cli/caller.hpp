// This process as the daemon is told of it: directory, variables, terminal.
#pragma once

#include "cli/terminal.hpp"
#include "protocol/caller.hpp"

#include <string>

namespace cudaenv::cli {

// "/" where it cannot be had.
std::string current_directory();
// Only the variables that travel (protocol/caller.hpp).
protocol::Caller this_caller(const Terminal& terminal);

} // namespace cudaenv::cli
