// The names in a directory.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cudaenv {

// Sorted, without `.` and `..`; none where the directory cannot be listed, and errno says why.
std::optional<std::vector<std::string>> names_in(const std::string& directory);
// Of an open directory, whose descriptor may be O_PATH and keeps its offset.
std::optional<std::vector<std::string>> names_in(int directory);

} // namespace cudaenv
