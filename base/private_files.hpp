// Files that cudaenv keeps for one user and believes later: caches. Law: what anybody else could
// have written is not believed.
#pragma once

#include <string>
#include <sys/stat.h>

namespace cudaenv {

// Of this kind (S_IFREG, S_IFDIR), the caller's own, and writable by nobody else.
bool is_ours_alone(const struct stat& status, mode_t kind);

// Every missing directory of `path`, each 0700; false where one cannot be made.
bool make_private_directories(const std::string& path);

} // namespace cudaenv
