// Which toolkit an environment module offers, from the modulefile's text, Tcl or Lua. Pure: a
// modulefile is a program, and it is never run. Only lines that assign plain values are read, in
// order and without their conditions; a value that is computed otherwise is unknown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

// Absolute directories that CUDA_HOME, CUDA_PATH, CUDA_ROOT or CUDADIR are set to, else the parents
// of the `bin` directories that go on PATH; in the file's order, each once. `path` is the
// modulefile's own: its last part is the module's version, the one before its name.
std::vector<std::string> parse_modulefile(std::string_view text, std::string_view path);

} // namespace cudaenv::host
