// This process as requests describe it: directory, variables, terminal.
#pragma once

#include "cli/terminal.hpp"
#include "protocol/caller.hpp"

#include <string>

namespace cudaenv::cli {

// "/" if it is unknown.
std::string current_directory();
// Only the variables that travel (protocol/caller.hpp).
protocol::Caller this_caller(const Terminal& terminal);

} // namespace cudaenv::cli
