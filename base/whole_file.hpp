// Small files of a user's or of an environment's: read whole, replaced whole.
//
// Law: a reader sees the old text or the new one, never a part; a text that somebody else wrote
// between our reading and our writing is not lost; on an error the file is as it was and nothing is
// left beside it.
//
// Error codes: those of failed_call, "not-a-file", "file-too-large", "file-changed",
// "foreign-owner"; the error's path is the file's.
#pragma once

#include "base/prefix_directory.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv {

inline constexpr const char* k_file_changed = "file-changed";
inline constexpr std::size_t k_most_whole_bytes = std::size_t{16} << 20;

// The text of a regular file, nothing when there is no file. A pipe or device is refused without
// waiting. With a place `path` is for messages, and the place's name is not followed.
Result<std::optional<std::string>> read_whole(const std::string& path,
                                              std::size_t most = k_most_whole_bytes);
Result<std::optional<std::string>> read_whole(const Place& place, const std::string& path);

// The rest of what is open there; `path` is for messages.
Result<std::string> read_open_file(int fd, const std::string& path,
                                   std::size_t most = k_most_whole_bytes);

// Where the file that `path` leads to lies; it need not be there. Links of the caller's and of
// root's are followed; one of another user's is "foreign-owner".
Result<Place> place_of(const std::string& path);

// Makes `path` hold `text`. `expected` is what was read before (nothing: there was no file); if it
// is not what is there now the error is "file-changed". The directory must exist. Mode and, where
// the kernel lets us, owner stay; a symlink stays and what it leads to is written.
Result<void> replace_whole(const std::string& path, std::string_view text,
                           const std::optional<std::string>& expected);
Result<void> replace_whole(const Place& place, const std::string& path, std::string_view text,
                           const std::optional<std::string>& expected);

// Reads, edits, writes; again from the start while somebody else changes the file meanwhile, a few
// times. An edit that changes nothing writes nothing. `edit` gets nothing when there is no file.
struct FileEdit {
    std::optional<std::string> before;
    std::string after;
    bool written = false;
};
using Edit = std::function<Result<std::string>(const std::optional<std::string>&)>;
Result<FileEdit> edit_whole(const std::string& path, const Edit& edit,
                            std::size_t most = k_most_whole_bytes);

// A file that is there no more is removed as well. Not followed.
Result<void> remove_whole(const Place& place, const std::string& path);

// Before a file of the user's own is made, changed or removed: error "anothers-home" where root
// would do so in a directory of another user's, where a new file would be root's and a link of
// theirs would be followed.
Result<void> check_own_place(const std::string& path);

} // namespace cudaenv
