// The limits that a process changes for itself and gives back to the programs that it starts: the
// number of its descriptors, and what happens at the largest size of a file.
#pragma once

#include "base/result.hpp"

namespace cudaenv {

// A session and what it serves have 20 open, and `check` one for each level of a path in an
// environment: with fewer, files that are there look like files that are not.
inline constexpr unsigned k_needed_descriptors = 64;

// Called once by `main`, before there is a thread. The soft limit of descriptors becomes
// `wanted`, as far as the hard one allows and where it is lower. One system call where it is not.
// Error: "few-descriptors" below k_needed_descriptors.
Result<void> take_descriptors(unsigned wanted = k_needed_descriptors);

// For who writes files. One that may not grow (`ulimit -f`) is an error of the write from now on,
// EFBIG, not a signal that ends the process and leaves a part of the file.
void take_file_size_as_error();

// How many may be open at a time, now.
unsigned descriptor_limit();

// Between fork and exec: the program gets what this process was started with. System calls alone.
void give_back_limits();

} // namespace cudaenv
