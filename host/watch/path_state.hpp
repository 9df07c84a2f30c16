// Noticing that a file or directory changed, by its modification time: exact in both directions,
// with nanoseconds, also on network file systems where inotify sees nothing.
#pragma once

#include "host/file_system.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::host {

struct PathState {
    std::string path;
    std::optional<std::int64_t> modified_ns; // since the epoch; none: it is not there

    bool operator==(const PathState&) const = default;
};

PathState observe(FileSystem& files, const std::string& path);
// Whether any of them is no longer as it was.
bool changed(FileSystem& files, const std::vector<PathState>& states);

// A file whose modification time is that of `state`, for shells, which compare files' times with
// -nt and -ot but cannot read them. Made in `directory`/stamps, named by path and time, so that it
// is right for every shell for ever. Nothing where it cannot be made.
std::optional<std::string> stamp_of(const std::string& directory, const PathState& state);
// Removes stamps that have not been asked for in 30 days.
void prune_stamps(const std::string& directory);

} // namespace cudaenv::host
