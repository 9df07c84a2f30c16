// Where this program is.
#pragma once

#include <string>

namespace cudaenv {

// Absolute, symlinks resolved. One system call. Where /proc is not mounted, the name under which it
// was executed, resolved from the current directory; empty where that leads nowhere.
// Of a program that was replaced while it runs, the path of the new one.
std::string own_path();

} // namespace cudaenv
