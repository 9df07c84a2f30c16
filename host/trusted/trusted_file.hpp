// Reading files that decide what a shell does.
//
// Law: what was judged is what is read. The way to a file is walked by descriptor, each directory
// and each link is judged as it is opened, and the text comes from the descriptor that was judged
// last. A file that somebody who is not trusted can have written is not read, and is named with the
// reason.
#pragma once

#include <optional>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace cudaenv::trusted {

// Who may have written: the user, root, and those below.
struct Trust {
    uid_t user = ::geteuid();
    std::vector<uid_t> owners{};       // of environments that the file is about
    std::vector<std::string> groups{}; // by name, and what their members have made for them
    bool is_for_config = false;        // which names those groups: it cannot speak for itself

    // To activate an environment, or to start its conda, is to run what its owner has put there.
    void add_owner_of(const std::string& prefix);
};

struct SkippedFile {
    std::string path;
    std::string why;    // "is writable by everyone"
    std::string remedy; // "chmod o-w /p/cudaenv.toml"

    [[nodiscard]] std::string text() const; // one printable line
};

// One of the two, or neither where there is no such file.
struct TrustedFile {
    std::optional<std::string> text;
    std::optional<SkippedFile> skipped;
};

// Of an absolute path. The directories that hold the file or a link on the way count, up to their
// mount point. The owner of each of them, of each link and of the file has to be trusted, and
// no other user may write to it; a sticky directory above the nearest one, as /tmp is, may be written
// to.
TrustedFile read_trusted_file(const std::string& path, const Trust& trust);

// Why a file called `name` in that directory would be passed over, if so.
std::optional<SkippedFile> reason_to_skip(const std::string& directory, const char* name,
                                          const Trust& trust);

// Why what is open there is not believed, by itself: by its owner and, but for a link, by who may
// write to it.
std::optional<SkippedFile> objection_to(int fd, const std::string& path, const Trust& trust);

// Asked for with STATX_BASIC_STATS | STATX_MNT_ID. By the mount's own number where the kernel has
// it (Linux 5.8): a bind mount has its neighbour's device, and a btrfs subvolume a device of its
// own without being a mount.
bool is_same_mount(const struct statx& one, const struct statx& other);

} // namespace cudaenv::trusted
