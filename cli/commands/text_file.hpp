// Files of the user's that a command changes: read whole, written whole.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

// None where there is none. Errors: "unreadable" (a directory, no permission, larger than 16 MiB).
Result<std::optional<std::string>> read_whole_file(const std::string& path);

// Written beside it and renamed over it; symlinks followed, owner, group and mode kept; directories
// made where they are missing. Errors: "write-failed" (also where the file itself is read-only,
// which a rename would not mind), "dangling-link".
Result<void> write_whole_file(const std::string& path, std::string_view text);

// Names in a directory, sorted, without `.` and `..`. Error "unreadable".
Result<std::vector<std::string>> names_in(const std::string& directory);

} // namespace cudaenv::cli
