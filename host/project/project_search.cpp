#include "host/project/project_search.hpp"

#include "base/fd.hpp"
#include "solver/plan/printable.hpp"

#include <climits>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace cudaenv::project {

namespace {

using plan::printable;

std::optional<std::string> real_path(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr),
                                                          std::free);
    return resolved == nullptr ? std::nullopt : std::optional<std::string>(resolved.get());
}

std::string parent_of(const std::string& directory) {
    const std::size_t slash = directory.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : directory.substr(0, slash);
}

std::string inside(const std::string& directory, const char* name) {
    return directory == "/" ? '/' + std::string(name) : directory + '/' + name;
}

// Which mount a directory is on. The mount's own number where the kernel has it (Linux 5.8): a bind
// mount has its neighbour's device, and a btrfs subvolume a device of its own without being a
// mount.
struct Mount {
    bool by_number = false;
    std::uint64_t number = 0;

    friend bool operator==(const Mount&, const Mount&) = default;
};

std::optional<Mount> mount_of(const std::string& directory) {
    struct statx status {};
    if (::statx(AT_FDCWD, directory.c_str(), AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID,
                &status) != 0) {
        return std::nullopt;
    }
    if ((status.stx_mask & STATX_MNT_ID) != 0) {
        return Mount{true, status.stx_mnt_id};
    }
    return Mount{false,
                 (static_cast<std::uint64_t>(status.stx_dev_major) << 32U) | status.stx_dev_minor};
}

std::string owner_name(uid_t owner) {
    std::array<char, 4096> buffer{};
    struct passwd entry {};
    struct passwd* found = nullptr;
    if (::getpwuid_r(owner, &entry, buffer.data(), buffer.size(), &found) == 0 &&
        found != nullptr) {
        return printable(entry.pw_name);
    }
    return "uid " + std::to_string(owner);
}

std::optional<SkippedFile> owned_by_another(const std::string& file, const std::string& what,
                                            const struct stat& status, uid_t user) {
    if (status.st_uid == user || status.st_uid == 0) {
        return std::nullopt;
    }
    // No remedy: a file that somebody else has laid here is not to be adopted.
    const std::string whose = owner_name(status.st_uid) + ", not to " +
                              (user == 0 ? std::string("root") : owner_name(user) + " or root");
    return SkippedFile{
        file, (what == file ? "belongs to " : printable(what) + " belongs to ") + whose, {}};
}

SkippedFile everyones(const std::string& file, const std::string& what) {
    return {file,
            what == file ? "is writable by everyone" : printable(what) + " is writable by everyone",
            "chmod o-w " + printable(what)};
}

SkippedFile unreachable(const std::string& file, int problem) {
    const bool loop = problem == ELOOP;
    return {file,
            loop ? std::string("its symlinks lead in a circle")
                 : "cannot be read: " + std::generic_category().message(problem),
            loop ? "rm " + printable(file) : std::string()};
}

// The directories that decide who may replace `file`, from `directory` up to its mount point.
std::optional<SkippedFile> check_directories(const std::string& file, std::string directory,
                                             uid_t user) {
    const auto mount = mount_of(directory);
    for (bool nearest = true; true; nearest = false) {
        struct stat status {};
        if (::stat(directory.c_str(), &status) != 0) {
            return unreachable(file, errno);
        }
        if (auto other = owned_by_another(file, directory, status, user)) {
            return other;
        }
        const bool sticky = (status.st_mode & S_ISVTX) != 0;
        if ((status.st_mode & S_IWOTH) != 0 && (nearest || !sticky)) {
            return everyones(file, directory);
        }
        const std::string parent = parent_of(directory);
        if (parent == directory || mount_of(parent) != mount) {
            return std::nullopt;
        }
        directory = parent;
    }
}

enum class Presence { Absent, Usable, Skipped };

Presence look(const std::string& path, uid_t user, std::vector<SkippedFile>& skipped) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno ==
            EACCES) { // the directory cannot be searched: whether there is a file is unknown
            skipped.push_back(unreachable(path, errno));
            return Presence::Skipped;
        }
        return Presence::Absent;
    }
    if (auto reason = reason_to_skip(path, user)) {
        skipped.push_back(*std::move(reason));
        return Presence::Skipped;
    }
    return Presence::Usable;
}

} // namespace

std::string SkippedFile::text() const {
    return printable(path) + " is passed over: " + why +
           (remedy.empty() ? "" : " (" + remedy + ')');
}

std::optional<SkippedFile> reason_to_skip_directory(const std::string& directory, uid_t user) {
    return check_directories(inside(directory, k_project_file), directory, user);
}

std::optional<SkippedFile> reason_to_skip(const std::string& path, uid_t user) {
    // Opened, not only looked at: what cannot be read is told here, and a pipe is not waited for.
    const Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (!fd) {
        return unreachable(path, errno);
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) {
        return unreachable(path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return SkippedFile{path, "is not a regular file", {}};
    }
    if (auto other = owned_by_another(path, path, status, user)) {
        return other;
    }
    if ((status.st_mode & S_IWOTH) != 0) {
        return everyones(path, path);
    }
    struct stat link {};
    if (::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) {
        if (auto other = owned_by_another(path, path, link, user)) {
            return other;
        }
        const auto target = real_path(path);
        if (!target) {
            return unreachable(path, errno);
        }
        if (auto reason = check_directories(path, parent_of(*target), user)) {
            return reason;
        }
    }
    return check_directories(path, parent_of(path), user);
}

Result<ProjectSearch> find_project(const std::string& start_directory, uid_t user) {
    const auto start = real_path(start_directory);
    struct stat status {};
    if (!start || ::stat(start->c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        const int problem = start ? ENOTDIR : errno;
        return tl::unexpected(
            Error{ErrorKind::Unavailable, "no-directory",
                  "cannot look for a project: " + std::generic_category().message(problem),
                  printable(start_directory), 0, 0, "change to a directory that exists"});
    }
    ProjectSearch search;
    search.start = *start;
    std::string directory = *start;
    const auto mount = mount_of(directory);
    while (true) {
        const std::string file = inside(directory, k_project_file);
        if (look(file, user, search.skipped) == Presence::Usable) {
            FoundProject found{directory, file, std::nullopt};
            const std::string local = inside(directory, k_local_file);
            if (look(local, user, search.skipped) == Presence::Usable) {
                found.local_file = local;
            }
            search.found = std::move(found);
            return search;
        }
        const std::string parent = parent_of(directory);
        if (parent == directory || mount_of(parent) != mount) {
            return search;
        }
        directory = parent;
    }
}

} // namespace cudaenv::project
