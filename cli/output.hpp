// Writing what was found out: to a descriptor, or to a file that is whole or not there.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace cudaenv::cli {

// Error "write-failed"; a reader that went away (EPIPE) is "reader-gone", which nobody needs to be
// told.
Result<void> write_all(int fd, std::string_view text);

// Replaced whole, its symlinks followed but those of other users; a device or pipe is written to.
Result<void> write_file(const std::string& path, std::string_view text);

} // namespace cudaenv::cli
