// Where this program is.
#pragma once

#include "base/result.hpp"

#include <string>

namespace cudaenv {

// Absolute, symlinks resolved. One system call. Where /proc is not mounted, the name under which it
// was executed, resolved from the current directory; empty where that leads nowhere.
// Of a program that was replaced while it runs, the path of the new one.
std::string own_path();
// The same, to be written where others call this program. Error "no-program" without a path.
Result<std::string> own_program();

} // namespace cudaenv
