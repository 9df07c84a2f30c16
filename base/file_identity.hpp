// What distinguishes one content of a file from another: a change alters the change time, which no
// program can set.
#pragma once

#include <cstdint>
#include <sys/stat.h>
#include <time.h>

namespace cudaenv {

// Of a time since the epoch.
constexpr std::int64_t nanoseconds(const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;

    static FileIdentity of(const struct stat& status) {
        return {static_cast<std::uint64_t>(status.st_dev),
                static_cast<std::uint64_t>(status.st_ino),
                static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim),
                nanoseconds(status.st_ctim)};
    }
    bool operator==(const FileIdentity&) const = default;
};

} // namespace cudaenv
