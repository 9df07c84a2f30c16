#include "check/repair/staging.hpp"

#include "base/directory_names.hpp"
#include "base/printable.hpp"
#include "check/repair/file_copy.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <vector>

namespace cudaenv::repair {

namespace {

constexpr int k_deepest = 100; // directories open at a time
constexpr const char* k_beside = ".cudaenv-new-";

// What lies too deep is moved to the top, and its turn comes later.
struct Removal {
    int top;
    std::vector<std::string> deep{}; // names at the top
    unsigned moved = 0;
};

int remove_tree(Removal& removal, int directory, const std::string& name, int depth);

int empty_directory(Removal& removal, int directory, const std::string& name, int depth) {
    // A read-only directory is emptied as well where this user owns it.
    Fd fd(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd && errno == EACCES) {
        (void)::fchmodat(directory, name.c_str(), 0700, 0);
        fd.reset(
            ::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    if (!fd) {
        return errno;
    }
    if (::faccessat(fd.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
        (void)::fchmod(fd.get(), 0700);
    }
    const auto names = names_in(fd.get());
    if (!names) {
        return errno;
    }
    int first_error = 0;
    for (const std::string& one : *names) {
        const int error = remove_tree(removal, fd.get(), one, depth + 1);
        first_error = first_error != 0 ? first_error : error;
    }
    return first_error;
}

int remove_tree(Removal& removal, int directory, const std::string& name, int depth) {
    struct stat status {};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    if (!S_ISDIR(status.st_mode)) {
        return ::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT ? 0 : errno;
    }
    if (depth > k_deepest) {
        // As installers name what they leave behind, should this be interrupted.
        std::string moved;
        int error = 0;
        do {
            moved = "~cudaenv-deep-" + std::to_string(++removal.moved);
            error =
                ::renameat(directory, name.c_str(), removal.top, moved.c_str()) == 0 ? 0 : errno;
        } while (error == EEXIST || error == ENOTEMPTY);
        removal.deep.push_back(std::move(moved));
        return error;
    }
    if (const int error = empty_directory(removal, directory, name, depth)) {
        return error;
    }
    return ::unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
}

// What lies in the directory of the lock, which stays.
int clear(int directory) {
    const auto names = names_in(directory);
    if (!names) {
        return errno;
    }
    for (const std::string& name : *names) {
        if (const int error = repair::remove_tree(directory, name)) {
            return error;
        }
    }
    return 0;
}

} // namespace

int remove_tree(int directory, const std::string& name) {
    Removal removal{directory};
    int error = remove_tree(removal, directory, name, 0);
    while (!removal.deep.empty()) {
        const std::string deep = std::move(removal.deep.back());
        removal.deep.pop_back();
        const int failed = remove_tree(removal, directory, deep, 0);
        error = error != 0 ? error : failed;
    }
    return error;
}

Result<std::unique_ptr<Staging>> Staging::begin(const PrefixDirectory& prefix) {
    const std::string whole = prefix.path() + '/' + k_name;
    const auto busy = [&] {
        return unavailable("busy", "another `cudaenv check --fix` is running in " +
                                       printable(prefix.path()));
    };
    for (int attempt = 0; attempt < 3; ++attempt) {
        if (::mkdirat(prefix.fd(), k_name, 0700) != 0 && errno != EEXIST) {
            return failed_on(errno, "cannot make", whole);
        }
        Fd fd(::openat(prefix.fd(), k_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!fd && errno == ENOENT) {
            continue; // the other one has just come to its end
        }
        struct stat status {};
        if (!fd || ::fstat(fd.get(), &status) != 0) {
            return failed_on(errno, "cannot open", whole);
        }
        if (status.st_uid != ::geteuid()) {
            return unavailable("busy",
                               printable(whole) +
                                   " belongs to another user: a fix of theirs is running, or "
                                   "was interrupted");
        }
        if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
            return busy();
        }
        if (::fstat(fd.get(), &status) != 0 || status.st_nlink == 0) {
            continue; // ours to lock, and gone
        }
        if (const int error = clear(fd.get())) {
            return failed_on(error, "cannot clear", whole);
        }
        return std::unique_ptr<Staging>(new Staging(prefix, std::move(fd)));
    }
    return busy();
}

Staging::~Staging() {
    for (const Change& change : m_changes) {
        if (const auto beside = m_prefix->place(change.beside); !change.beside.empty() && beside) {
            remove_tree(beside->directory.get(), beside->name);
        }
    }
    clear(m_fd.get());
    ::unlinkat(m_prefix->fd(), k_name, AT_REMOVEDIR);
}

// A second name of what lies there, or a copy of it, here; empty: nothing lies there.
Result<std::string> Staging::keep_before(const Place& place, const std::string& path) {
    const auto status = place.status();
    if (!status) {
        return std::string();
    }
    std::string kept = new_name();
    const int directory = place.directory.get();
    if (::linkat(directory, place.name.c_str(), m_fd.get(), kept.c_str(), 0) == 0) {
        return kept;
    }
    // A file system without hard links, or another one that is mounted within the environment.
    if (S_ISLNK(status->st_mode)) {
        CUDAENV_TRY(const auto text, read_link(directory, place.name));
        if (::symlinkat(text.c_str(), m_fd.get(), kept.c_str()) != 0) {
            return failed_on(errno, "cannot keep a copy of", path);
        }
        return kept;
    }
    CUDAENV_TRY(const auto way,
                copy_file(directory, place.name, m_fd.get(), kept, status->st_mode & 07777U));
    static_cast<void>(way);
    return kept;
}

Result<void> Staging::place_staged(const std::string& staged, const std::string& path) {
    CUDAENV_TRY(const auto place, m_prefix->make_place(path));
    const int directory = place.directory.get();
    if (::renameat(m_fd.get(), staged.c_str(), directory, place.name.c_str()) == 0) {
        return {};
    }
    if (errno != EXDEV) {
        return failed_on(errno, "cannot restore", path);
    }
    // Another file system is mounted within the environment.
    const std::string beside = k_beside + place.name;
    ::unlinkat(directory, beside.c_str(), 0);
    struct stat status {};
    if (::fstatat(m_fd.get(), staged.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return failed_on(errno, "cannot restore", path);
    }
    if (S_ISLNK(status.st_mode)) {
        CUDAENV_TRY(const auto text, read_link(m_fd.get(), staged));
        if (::symlinkat(text.c_str(), directory, beside.c_str()) != 0) {
            return failed_on(errno, "cannot restore", path);
        }
    } else {
        CUDAENV_TRY(const auto way,
                    copy_file(m_fd.get(), staged, directory, beside, status.st_mode));
        static_cast<void>(way);
    }
    if (::renameat(directory, beside.c_str(), directory, place.name.c_str()) != 0) {
        const int error = errno;
        ::unlinkat(directory, beside.c_str(), 0);
        return failed_on(error, "cannot restore", path);
    }
    return {};
}

Result<void> Staging::put(const std::string& staged, const std::string& path) {
    CUDAENV_TRY(const auto place, m_prefix->make_place(path));
    struct stat owner {};
    if (::geteuid() == 0 && ::fstat(m_prefix->fd(), &owner) == 0) {
        // Here no one else can swap it for another file.
        (void)::fchownat(m_fd.get(), staged.c_str(), owner.st_uid, owner.st_gid,
                         AT_SYMLINK_NOFOLLOW);
    }
    CUDAENV_TRY(auto before, keep_before(place, path));
    CUDAENV_TRY_VOID(place_staged(staged, path));
    m_changes.push_back({path, std::move(before), {}});
    return {};
}

Result<void> Staging::take_away(const std::string& path) {
    const auto place = m_prefix->place(path);
    if (!place) {
        return place.error().code == "not-found" ? Result<void>() : tl::unexpected(place.error());
    }
    const int directory = place->directory.get();
    std::string aside = new_name();
    if (::renameat(directory, place->name.c_str(), m_fd.get(), aside.c_str()) == 0) {
        m_changes.push_back({path, std::move(aside), {}});
        return {};
    }
    if (errno == ENOENT) {
        return {};
    }
    if (errno != EXDEV) {
        return failed_on(errno, "cannot remove", path);
    }
    // Another file system is mounted within the environment.
    const auto status = place->status();
    if (status && S_ISDIR(status->st_mode)) {
        // What begins with ~ is a leftover to every installer, should this be interrupted.
        const std::string beside = place->name.starts_with('~') ? place->name : '~' + place->name;
        if (beside != place->name &&
            ::renameat(directory, place->name.c_str(), directory, beside.c_str()) != 0) {
            return failed_on(errno, "cannot remove", path);
        }
        m_changes.push_back({path, {}, path.substr(0, path.size() - place->name.size()) + beside});
        return {};
    }
    CUDAENV_TRY(auto before, keep_before(*place, path));
    if (::unlinkat(directory, place->name.c_str(), 0) != 0 && errno != ENOENT) {
        return failed_on(errno, "cannot remove", path);
    }
    m_changes.push_back({path, std::move(before), {}});
    return {};
}

Result<void> Staging::take_back(const Change& change) {
    const auto place = m_prefix->make_place(change.path);
    if (!place) {
        return tl::unexpected(place.error());
    }
    if (!change.before.empty()) {
        return place_staged(change.before, change.path);
    }
    if (!change.beside.empty()) {
        const auto beside = m_prefix->place(change.beside);
        return beside && ::renameat(beside->directory.get(), beside->name.c_str(),
                                    place->directory.get(), place->name.c_str()) == 0
                   ? Result<void>()
                   : failed_on(errno, "cannot restore", change.path);
    }
    if (::unlinkat(place->directory.get(), place->name.c_str(), 0) != 0 && errno != ENOENT) {
        return failed_on(errno, "cannot remove", change.path);
    }
    const auto slash = change.path.rfind('/');
    if (slash != std::string::npos) {
        m_prefix->remove_empty(change.path.substr(0, slash),
                               change.path.substr(0, change.path.find('/')));
    }
    return {};
}

Result<void> Staging::take_back() {
    Result<void> first;
    for (; !m_changes.empty(); m_changes.pop_back()) {
        auto undone = take_back(m_changes.back());
        if (!undone && first) {
            first = std::move(undone);
        }
    }
    return first;
}

} // namespace cudaenv::repair
