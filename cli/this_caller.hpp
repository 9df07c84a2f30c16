// This process as requests describe it: directory, variables, terminal.
#pragma once

#include "cli/progress_line.hpp"
#include "protocol/caller.hpp"

#include <string>

namespace cudaenv::cli {

// "/" if it is unknown.
std::string current_directory();
// Of a variable. Empty where it is not absolute: the XDG specification ignores a relative path.
std::string directory_in(const char* name);
// Only the variables that travel (protocol/caller.hpp).
protocol::Caller this_caller(const Terminal& terminal);

} // namespace cudaenv::cli
