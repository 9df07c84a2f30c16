// Writing results: to a descriptor, or to a file that is either complete or not there.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace cudaenv::cli {

// Error "write-failed"; if the reader has closed its end (EPIPE) "reader-gone", which is not
// reported.
Result<void> write_all(int fd, std::string_view text);

// Replaces a file atomically, following symlinks except those of other users; writes into a device
// or pipe.
Result<void> write_file(const std::string& path, std::string_view text);

} // namespace cudaenv::cli
