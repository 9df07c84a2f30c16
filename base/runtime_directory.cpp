#include "base/runtime_directory.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>

namespace cudaenv {

namespace {

constexpr int k_directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

tl::unexpected<Error> failed(const char* code, const std::string& path, const std::string& what,
                             const char* hint) {
    return unavailable(code, path + ' ' + what, hint, path);
}

tl::unexpected<Error> none(const std::string& path, const std::string& what) {
    return failed("no-runtime-directory", path, what,
                  "cudaenv answers without its daemon; set XDG_RUNTIME_DIR to a directory of your "
                  "own to have one");
}

tl::unexpected<Error> unsafe(const std::string& path, const std::string& what) {
    return failed("unsafe-runtime-directory", path, what,
                  "remove it, or have it removed: cudaenv creates it again, open to you alone");
}

std::string text_of_errno(int error) {
    std::array<char, 128> text{};
    return strerror_r(error, text.data(), text.size());
}

std::string octal(mode_t mode) {
    std::array<char, 16> text{};
    (void)std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777U));
    return text.data();
}

struct Candidate {
    std::string parent;
    std::string name;
    Fd fd; // the parent's
    [[nodiscard]] std::string path() const { return parent + '/' + name; }
};

// A directory that only the user can write: only then no other user can put another one in
// the place of what is made in it.
std::optional<Candidate> own_parent(std::string path, uid_t user) {
    while (path.size() > 1 && path.ends_with('/')) {
        path.pop_back(); // behind a slash O_NOFOLLOW would follow
    }
    Fd fd(::open(path.c_str(), k_directory_flags));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_uid != user ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return std::nullopt;
    }
    return Candidate{std::move(path), "cudaenv", std::move(fd)};
}

Result<Candidate> candidate_in(const char* xdg_runtime_dir, uid_t user,
                               const RuntimeParents& parents) {
    if (xdg_runtime_dir != nullptr && *xdg_runtime_dir == '/') {
        if (auto place = own_parent(xdg_runtime_dir, user)) {
            return std::move(*place);
        }
    }
    if (auto place = own_parent(parents.run_user + '/' + std::to_string(user), user)) {
        return std::move(*place);
    }
    Candidate place{parents.temporary, "cudaenv-" + std::to_string(user), {}};
    // A link is in order here: the system's own, as where /tmp leads to another disk.
    place.fd = Fd(::open(place.parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat status {};
    if (!place.fd || ::fstat(place.fd.get(), &status) != 0) {
        return none(place.path(), "cannot be made: " + place.parent + ": " + text_of_errno(errno));
    }
    const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if ((status.st_uid != 0 && status.st_uid != user) ||
        (others_write && (status.st_mode & S_ISVTX) == 0)) {
        return unsafe(place.path(), "is not used: others can rename what lies in " + place.parent);
    }
    return place;
}

} // namespace

Result<RuntimeDirectory> open_runtime_directory(const char* xdg_runtime_dir, uid_t user,
                                                IfMissing missing, const RuntimeParents& parents) {
    CUDAENV_TRY(const Candidate place, candidate_in(xdg_runtime_dir, user, parents));
    const char* name = place.name.c_str();
    RuntimeDirectory directory;
    directory.path = place.path();
    directory.fd = Fd(::openat(place.fd.get(), name, k_directory_flags));
    if (!directory.fd && errno == ENOENT && missing == IfMissing::Make) {
        const bool made = ::mkdirat(place.fd.get(), name, 0700) == 0;
        if (!made && errno != EEXIST) { // another one of ours was quicker: checked below as any
            return none(directory.path, "cannot be made: " + text_of_errno(errno));
        }
        // An umask may have taken bits from the mode; what was created here belongs to this user.
        if (made && ::fchmodat(place.fd.get(), name, 0700, 0) != 0) {
            return none(directory.path, "cannot be made: " + text_of_errno(errno));
        }
        directory.fd = Fd(::openat(place.fd.get(), name, k_directory_flags));
    }
    if (!directory.fd) {
        const int error = errno;
        if (error == ENOENT) {
            return none(directory.path, "does not exist");
        }
        // O_DIRECTORY | O_NOFOLLOW answers ENOTDIR for a link, older kernels ELOOP.
        if (error == ENOTDIR || error == ELOOP) {
            return unsafe(directory.path, "is not a directory, or a link to one");
        }
        struct stat status {};
        if (::fstatat(place.fd.get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            status.st_uid == user) {
            return none(directory.path, "cannot be opened: " + text_of_errno(error));
        }
        return unsafe(directory.path, "belongs to user " + std::to_string(status.st_uid));
    }
    struct stat status {};
    if (::fstat(directory.fd.get(), &status) != 0) {
        return none(directory.path, "cannot be examined: " + text_of_errno(errno));
    }
    if (status.st_uid != user) {
        return unsafe(directory.path, "belongs to user " + std::to_string(status.st_uid));
    }
    // The set-group-ID bit is inherited from the parent and opens nothing.
    if ((status.st_mode & 0777) != 0700) {
        return unsafe(directory.path, "has mode " + octal(status.st_mode) + " instead of 0700");
    }
    return directory;
}

} // namespace cudaenv
