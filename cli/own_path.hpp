// Where this program is.
#pragma once

#include <string>

namespace cudaenv::cli {

// Absolute, symlinks resolved; empty where /proc is not there. One system call.
std::string own_path();

} // namespace cudaenv::cli
