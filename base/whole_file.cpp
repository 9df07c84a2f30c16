#include "base/whole_file.hpp"

#include "base/as_owner.hpp"
#include "base/failed_call.hpp"
#include "base/fd.hpp"
#include "base/private_files.hpp"
#include "base/shell_word.hpp"
#include "base/temporary_file.hpp"
#include "base/text.hpp"
#include "base/whole_io.hpp"

#include <climits>

#include <cerrno>
#include <chrono>
#include <deque>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace cudaenv {

namespace {

// As many symlinks as the kernel follows (MAXSYMLINKS).
constexpr int k_most_links = 40;
constexpr int k_tries = 10;
// An edit takes milliseconds. Whoever holds the lock longer is stuck or on a strange file system;
// the comparison at the exchange protects the text then.
constexpr std::chrono::milliseconds k_lock_patience{2000};

tl::unexpected<Error> failure(const std::string& path, std::string code, std::string message,
                              std::string hint = {}) {
    return unavailable(std::move(code), std::move(message), std::move(hint), path);
}

tl::unexpected<Error> failure_of(int problem, const std::string& path, std::string_view what) {
    Error error = failed_call(problem).value();
    if (error.code == k_symlink_loop) {
        error.hint = "its symlinks lead in a circle";
    } else if (error.code == k_not_found) {
        error.hint = "its directory does not exist";
    }
    return failure(path, std::move(error.code), std::string(what) + ": " + error.message,
                   std::move(error.hint));
}

struct Opened {
    Fd fd;
    struct stat status {};
};

// Nothing when there is no file. O_NONBLOCK: opening a pipe must not wait for its writer.
Result<std::optional<Opened>> open_regular(int directory, const std::string& name, int flags,
                                           const std::string& path) {
    Opened opened;
    opened.fd =
        Fd(::openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags));
    if (!opened.fd) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return std::optional<Opened>();
        }
        if (errno == ENXIO) { // a socket
            return failure(path, "not-a-file", "is not a regular file");
        }
        return failure_of(errno, path, "cannot be read");
    }
    if (::fstat(opened.fd.get(), &opened.status) != 0) {
        return failure_of(errno, path, "cannot be read");
    }
    if (!S_ISREG(opened.status.st_mode)) {
        return failure(path, "not-a-file",
                       S_ISDIR(opened.status.st_mode) ? "is a directory, not a file"
                                                      : "is not a regular file");
    }
    return std::optional<Opened>(std::move(opened));
}

Result<void> fill(Fd fd, std::string_view text, const std::string& path) {
    if (!write_full(fd.get(), text)) {
        return failure_of(errno, path, "cannot be written");
    }
    // A full disk or quota may only be reported here, on NFS only at close.
    if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) {
        return failure_of(errno, path, "cannot be written");
    }
    if (::close(fd.release()) != 0) {
        return failure_of(errno, path, "cannot be written");
    }
    return {};
}

bool unsupported(int problem) {
    return problem == EINVAL || problem == ENOSYS || problem == EOPNOTSUPP;
}

tl::unexpected<Error> changed(const std::string& path) {
    return failure(path, k_file_changed, "changed while it was being edited",
                   "nothing was written; run the command again");
}

Result<std::optional<std::string>> text_at(int directory, const std::string& name, int flags,
                                           const std::string& path, std::size_t most,
                                           struct stat* status = nullptr) {
    CUDAENV_TRY(std::optional<Opened> opened, open_regular(directory, name, flags, path));
    if (!opened) {
        return std::optional<std::string>();
    }
    if (status != nullptr) {
        *status = opened->status;
    }
    CUDAENV_TRY(std::string text, read_open_file(opened->fd.get(), path, most));
    return std::optional<std::string>(std::move(text));
}

std::optional<std::string> target_of(const Fd& link) {
    std::string target(PATH_MAX, '\0');
    const ssize_t size = ::readlinkat(link.get(), "", target.data(), target.size());
    if (size < 0) {
        return std::nullopt;
    }
    target.resize(static_cast<std::size_t>(size));
    return target;
}

// A writer at work on one file, ordered among cudaenv's own.
class Writer {
public:
    Writer(const Place& place, std::string path)
        : m_path(std::move(path)), m_name(place.name), m_directory(place.directory.get()),
          // One may write into a directory that one may not list; only lock and fsync are lost.
          m_open(::openat(m_directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        lock();
    }

    // The text there now; nothing when there is no file.
    Result<std::optional<std::string>> current(struct stat* status) const {
        return text_of(m_name, status);
    }

    Result<void> replace(std::string_view text, const std::optional<std::string>& expected) {
        struct stat status {};
        CUDAENV_TRY(const std::optional<std::string> now, current(&status));
        if (now != expected) {
            return changed(m_path);
        }
        if (now && ::faccessat(at(), m_name.c_str(), W_OK, AT_EACCESS) != 0) {
            return failure_of(errno, m_path, "cannot be written");
        }
        // Not writable by everyone even under umask 0: such a file would not be read afterwards.
        TemporaryFile temporary = now ? TemporaryFile(at(), m_name) : [&] {
            const AsOwner owner(at());
            return TemporaryFile(at(), m_name, 0664);
        }();
        if (!temporary) {
            return failure_of(errno, m_path, "cannot be written");
        }
        if (now) {
            keep_owner_and_mode(temporary.fd(), status);
        }
        CUDAENV_TRY_VOID(fill(temporary.take_fd(), text, m_path));
        CUDAENV_TRY_VOID(now ? exchange(temporary.name(), text, *expected)
                             : appear(temporary.name()));
        // Only durability hangs on this, and not every file system has it.
        ::fsync(m_open.get());
        return {};
    }

private:
    [[nodiscard]] int at() const { return m_directory; }

    // Orders cudaenv's own writers. Best effort: some network file systems have no such lock.
    void lock() const {
        const auto deadline = std::chrono::steady_clock::now() + k_lock_patience;
        while (::flock(m_open.get(), LOCK_EX | LOCK_NB) != 0) {
            if ((errno != EWOULDBLOCK && errno != EINTR) ||
                std::chrono::steady_clock::now() > deadline) {
                return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }

    Result<std::optional<std::string>> text_of(const std::string& name, struct stat* status) const {
        return text_at(at(), name, O_NOFOLLOW, m_path, k_most_whole_bytes, status);
    }

    static void keep_owner_and_mode(int fd, const struct stat& status) {
        // Only root can give a file away; a file that the user may write becomes the user's own.
        if (::fchown(fd, status.st_uid, status.st_gid) != 0 &&
            ::fchown(fd, static_cast<uid_t>(-1), status.st_gid) != 0) {
            // Not a member of its group: the new file has the user's.
        }
        ::fchmod(fd, status.st_mode & 0777U);
    }

    // A new file. link() fails where somebody has made one meanwhile, on NFS too.
    Result<void> appear(const std::string& temporary) const {
        if (::linkat(at(), temporary.c_str(), at(), m_name.c_str(), 0) == 0) {
            return {};
        }
        const int problem = errno;
        struct stat status {};
        // NFS may tell of a failure when the answer to a success was lost: the count knows.
        if (::fstatat(at(), temporary.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            status.st_nlink == 2) {
            return {};
        }
        if (problem == EEXIST) {
            return changed(m_path);
        }
        if (problem != EPERM && problem != EMLINK && !unsupported(problem)) {
            return failure_of(problem, m_path, "cannot be written");
        }
        // A file system without hard links.
        if (::renameat2(at(), temporary.c_str(), at(), m_name.c_str(), RENAME_NOREPLACE) == 0) {
            return {};
        }
        if (errno == EEXIST) {
            return changed(m_path);
        }
        if (!unsupported(errno)) {
            return failure_of(errno, m_path, "cannot be written");
        }
        return rename_over(temporary, std::nullopt);
    }

    // Swaps old and new in one step, then looks at what was swapped out: if it is not what was
    // read, somebody wrote meanwhile, and the two are swapped back.
    Result<void> exchange(const std::string& temporary, std::string_view text,
                          const std::string& expected) const {
        const auto swap = [&] {
            return ::renameat2(at(), temporary.c_str(), at(), m_name.c_str(), RENAME_EXCHANGE);
        };
        if (swap() != 0) {
            if (errno == ENOENT) {
                return changed(m_path); // removed meanwhile
            }
            if (unsupported(errno)) { // NFS among others
                return rename_over(temporary, expected);
            }
            return failure_of(errno, m_path, "cannot be written");
        }
        const auto old = text_of(temporary, nullptr);
        if (old && *old == expected) {
            return {};
        }
        if (swap() != 0) {
            return failure_of(errno, m_path,
                              "changed while it was being edited, and putting it back failed");
        }
        const auto ours = text_of(temporary, nullptr);
        if (!ours || *ours != text) {
            swap(); // a third hand wrote between the two swaps: the newest text stays
        }
        return changed(m_path);
    }

    Result<void> rename_over(const std::string& temporary,
                             const std::optional<std::string>& expected) const {
        CUDAENV_TRY(const std::optional<std::string> now, current(nullptr));
        if (now != expected) {
            return changed(m_path);
        }
        if (::renameat(at(), temporary.c_str(), at(), m_name.c_str()) != 0) {
            return failure_of(errno, m_path, "cannot be written");
        }
        return {};
    }

    std::string m_path; // as the caller wrote it, for messages
    std::string m_name;
    int m_directory;
    Fd m_open; // the same, where it may be listed
};

} // namespace

// Walked by descriptor, so that the link that is judged is the one that is followed.
Result<Place> place_of(const std::string& path) {
    std::deque<std::string> names;
    const auto add = [&](std::string_view to) {
        auto parts = split(to, '/');
        std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
        names.insert(names.begin(), parts.begin(), parts.end());
        return to.starts_with('/') ? "/" : ".";
    };
    constexpr int k_way = O_PATH | O_CLOEXEC;
    Place place{Fd(::open(add(path), k_way | O_DIRECTORY)), {}};
    struct stat root {};
    for (int links = 0; place.directory && !names.empty() && ::stat("/", &root) == 0;) {
        place.name = std::move(names.front());
        names.pop_front();
        Fd next(::openat(place.directory.get(), place.name.c_str(), k_way | O_NOFOLLOW));
        if (!next && errno == ENOENT && names.empty()) {
            return place;
        }
        struct stat status {};
        if (!next || ::fstat(next.get(), &status) != 0) {
            break;
        }
        if (!S_ISLNK(status.st_mode)) {
            if (names.empty()) {
                return place;
            }
            place.directory = std::move(next);
            continue;
        }
        const auto target = target_of(next);
        if (++links > k_most_links || !target) {
            return failure_of(target ? ELOOP : errno, path, "cannot be written");
        }
        // In a user namespace root's files belong to the overflow uid, as the root directory does.
        if (status.st_uid != ::geteuid() && status.st_uid != 0 && status.st_uid != root.st_uid) {
            return failure(path, "foreign-owner",
                           "is reached by a link of another user, to " + shell_word(*target) +
                               ", which is not followed");
        }
        if (add(*target) == std::string_view("/")) {
            place.directory.reset(::open("/", k_way | O_DIRECTORY));
        }
    }
    return failure_of(names.empty() && place.directory ? EISDIR : errno, path, "cannot be written");
}

Result<std::string> read_open_file(int fd, const std::string& path, std::size_t most) {
    auto text = read_rest(fd, most + 1);
    if (!text) {
        return failure_of(errno, path, "cannot be read");
    }
    if (text->size() > most) {
        return failure(path, "file-too-large", "larger than " + std::to_string(most) + " bytes",
                       "expected a file of a few lines; is this another one?");
    }
    return *std::move(text);
}

Result<std::optional<std::string>> read_whole(const std::string& path, std::size_t most) {
    return text_at(AT_FDCWD, path, 0, path, most);
}

Result<std::optional<std::string>> read_whole(const Place& place, const std::string& path) {
    return text_at(place.directory.get(), place.name, O_NOFOLLOW, path, k_most_whole_bytes);
}

Result<void> replace_whole(const Place& place, const std::string& path, std::string_view text,
                           const std::optional<std::string>& expected) {
    return Writer(place, path).replace(text, expected);
}

Result<void> replace_whole(const std::string& path, std::string_view text,
                           const std::optional<std::string>& expected) {
    CUDAENV_TRY(const Place place, place_of(path));
    return replace_whole(place, path, text, expected);
}

Result<FileEdit> edit_whole(const std::string& path, const Edit& edit, std::size_t most) {
    for (int left = k_tries; true; --left) {
        CUDAENV_TRY(std::optional<std::string> before, read_whole(path, most));
        CUDAENV_TRY(std::string after, edit(before));
        if (before.value_or("") == after) {
            return FileEdit{std::move(before), std::move(after), false};
        }
        auto written = replace_whole(path, after, before);
        if (written) {
            return FileEdit{std::move(before), std::move(after), true};
        }
        if (written.error().code != k_file_changed || left == 0) {
            return tl::unexpected(std::move(written).error());
        }
    }
}

Result<void> remove_whole(const Place& place, const std::string& path) {
    if (::unlinkat(place.directory.get(), place.name.c_str(), 0) != 0 && errno != ENOENT) {
        return failure_of(errno, path, "cannot be removed");
    }
    return {};
}

Result<void> check_own_place(const std::string& path) {
    if (is_anothers_place(path.substr(0, path.rfind('/')))) {
        return failure(path, "anothers-home", "is in a directory of another user",
                       "run it as that user, or as root with root's own HOME");
    }
    return {};
}

} // namespace cudaenv
