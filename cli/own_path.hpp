// Where this program is.
#pragma once

#include <string>

namespace cudaenv::cli {

// Absolute, symlinks resolved; empty where /proc is not there. One system call. Of a program that
// was replaced while it runs, the path of the new one.
std::string own_path();

} // namespace cudaenv::cli
