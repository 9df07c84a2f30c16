// One command from its words to its exit status.
#pragma once

#include <span>

namespace cudaenv::cli {

// The words after the program's name. Writes to standard output and standard error.
int run(std::span<const char* const> words);

} // namespace cudaenv::cli
