#include "base/private_files.hpp"

#include "base/temporary_file.hpp"
#include "base/whole_io.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace cudaenv {

bool is_ours_alone(const struct stat& status, mode_t kind) {
    return (status.st_mode & S_IFMT) == kind && status.st_uid == ::geteuid() &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string read_private_file(const std::string& path, std::size_t limit) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !is_ours_alone(status, S_IFREG) ||
        status.st_size > static_cast<off_t>(limit)) {
        return {};
    }
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    const ssize_t have = read_full(file.get(), text.data(), text.size());
    if (have != status.st_size) {
        return {};
    }
    return text;
}

bool write_private_file(const std::string& directory, const std::string& name,
                        const std::string& text) {
    if (!directory.starts_with('/') || !make_private_directories(directory)) {
        return false;
    }
    const Fd place(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat status {};
    if (!place || ::fstat(place.get(), &status) != 0 || !is_ours_alone(status, S_IFDIR)) {
        return false;
    }
    TemporaryFile file(place.get(), name);
    return file && write_full(file.fd(), text) && file.replace();
}

bool is_anothers_place(const std::string& directory) {
    struct stat root {};
    if (::geteuid() != 0 || directory.empty() || ::stat("/", &root) != 0) {
        return false;
    }
    struct stat status {};
    for (std::size_t at = 0; at != std::string::npos;) {
        at = directory.find('/', at + 1);
        if (::lstat(directory.substr(0, at).c_str(), &status) != 0) {
            return false;
        }
        // In a user namespace root's files belong to the overflow uid, as the root directory does.
        if (status.st_uid != 0 && status.st_uid != root.st_uid) {
            return true;
        }
    }
    return false;
}

bool make_private_directories(const std::string& path) {
    for (std::size_t at = 1; at != std::string::npos;) {
        at = path.find('/', at + 1);
        const std::string parent = path.substr(0, at);
        if (::mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST) {
            // A read-only or automounted parent answers otherwise, and is there.
            const int problem = errno;
            struct stat status {};
            if (::stat(parent.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
                errno = problem;
                return false;
            }
        }
    }
    return true;
}

Fd lock_private_directory(const std::string& directory) {
    // A cache that loses an entry is better than somebody who does not come to an end.
    constexpr std::chrono::seconds k_patience{2};
    Fd place;
    if (directory.starts_with('/') && make_private_directories(directory)) {
        place.reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    const auto deadline = std::chrono::steady_clock::now() + k_patience;
    while (place && ::flock(place.get(), LOCK_EX | LOCK_NB) != 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) ||
            std::chrono::steady_clock::now() > deadline) {
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return place;
}

} // namespace cudaenv
