// Files that cudaenv stores for one user and trusts later. Law: what another user could have written
// is not trusted. A single such file: PrivateStore.
#pragma once

#include "base/fd.hpp"

#include <cstddef>
#include <string>
#include <sys/stat.h>

namespace cudaenv {

// Of this kind (S_IFREG, S_IFDIR), the caller's own, and not writable by others.
bool is_ours_alone(const struct stat& status, mode_t kind);

// Whether root would make what it keeps in a directory of another user's, as with `sudo -E` or in a
// shell of root's with a user's HOME: files of root's there lock the user out, and links that the
// user has planted would be followed. By what exists of the way; false for all but root.
bool is_anothers_place(const std::string& directory);

// Every missing directory of `path`, each 0700; false where one cannot be made, and errno says why.
bool make_private_directories(const std::string& path);

// The file whole; empty where it is not there, not ours alone, or longer than `limit`.
std::string read_private_file(const std::string& path, std::size_t limit);

// Replaces `directory`/`name` at once, making what is missing of the directory (absolute), which is
// ours alone then; false where it cannot be, and the old file is as it was.
bool write_private_file(const std::string& directory, const std::string& name,
                        const std::string& text);

// Orders those who read, add and write again, until it is closed. The directory is made where it is
// not there. Best effort: some network file systems have no such lock, and one that is held for two
// seconds is not waited for longer.
Fd lock_private_directory(const std::string& directory);

} // namespace cudaenv
