#include "base/private_files.hpp"

#include <cerrno>
#include <unistd.h>

namespace cudaenv {

bool is_ours_alone(const struct stat& status, mode_t kind) {
    return (status.st_mode & S_IFMT) == kind && status.st_uid == ::geteuid() &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool make_private_directories(const std::string& path) {
    for (std::size_t at = 1; at != std::string::npos;) {
        at = path.find('/', at + 1);
        const std::string parent = path.substr(0, at);
        if (::mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST) {
            // A read-only or automounted parent answers otherwise, and is there.
            struct stat status {};
            if (::stat(parent.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
                return false;
            }
        }
    }
    return true;
}

} // namespace cudaenv
