// Noticing that a file or directory changed, by its modification time: exact in both directions,
// with nanoseconds, also on network file systems where inotify sees nothing.
#pragma once

#include "host/file_system.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::watch {

struct PathState {
    std::string path;
    std::optional<std::int64_t> modified_ns; // since the epoch; none: it is not there

    bool operator==(const PathState&) const = default;
};

// What cannot be looked at counts as not there.
PathState observe(host::FileSystem& files, const std::string& path);
// Whether any of them is no longer as it was.
bool changed(host::FileSystem& files, const std::vector<PathState>& states);
// Whether a path in this `state`, observed after it was read, is still what was read: false where
// it may have changed while or after reading began at `began_ns` and have kept this time. (File
// systems count time in ticks of up to 10 ms: two changes within one leave the same.) What is not
// settled is to be read again the next time. `seen_by`: who compares the times later on; bash
// before 5.0 compares seconds.
enum class Clock : std::uint8_t { Nanoseconds, Seconds };
bool is_settled(const PathState& state, std::int64_t began_ns, Clock seen_by = Clock::Nanoseconds);

// A file whose modification time is that of `state`, for shells, which compare files' times with
// -nt and -ot but cannot read them. Made in `directory` itself (each directory of a path is a
// tenth of a microsecond at every prompt), which must be the user's own and closed to others; named
// by the time: it is right for every path of that time, in every
// shell, for ever, and never there with another time. One `lstat` where it is there already.
// Nothing for a path that is not there, and where it cannot be made: a directory that is not to be
// written, a file system that does not keep nanoseconds.
std::optional<std::string> stamp_of(const std::string& directory, const PathState& state);
// Removes stamps that have not been asked for in 30 days; the first stamp of a day calls it. A
// shell that still compares with one of them sees "changed", asks, and has it created again.
void prune_stamps(const std::string& directory);

} // namespace cudaenv::watch
