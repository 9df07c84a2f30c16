// One command from its words to its exit status.
#pragma once

#include "base/result.hpp"

#include <span>

namespace cudaenv::cli {

// The words after the program's name. Writes to standard output and standard error. `limits`: of
// take_descriptors; if it failed, only help works.
int run(std::span<const char* const> words, const Result<void>& limits);

} // namespace cudaenv::cli
