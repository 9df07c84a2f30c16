// Small text files on disk: read whole, replaced atomically.
//
// Law: a reader sees the old text or the new one, never a part; a text that somebody else wrote
// between our reading and our writing is not lost; on an error the file is as it was and nothing is
// left beside it.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::project {

// Error codes of this header: "permission-denied", "symlink-loop", "not-a-file", "file-too-large",
// "file-changed", "no-directory", "io".
inline constexpr const char* k_file_changed = "file-changed";

// The text of a regular file, nothing when there is none. A pipe or device is refused, not waited
// for.
Result<std::optional<std::string>> read_text_file(const std::string& path);

// The rest of what is open there; `path` is for messages.
Result<std::string> read_open_file(int fd, const std::string& path);

// Makes `path` hold `text`. `expected` is what was read before (nothing: there was no file); if it
// is not what is there now the error is "file-changed". The directory must exist. Mode and, where
// the kernel lets us, owner stay; a symlink stays and what it leads to is written.
Result<void> write_atomically(const std::string& path, std::string_view text,
                              const std::optional<std::string>& expected);

// Reads, edits, writes; again from the start while somebody else changes the file meanwhile, a few
// times. An edit that changes nothing writes nothing. `edit` gets nothing when there is no file.
struct FileEdit {
    std::optional<std::string> before;
    std::string after;
    bool written = false;
};
Result<FileEdit>
edit_text_file(const std::string& path,
               const std::function<Result<std::string>(const std::optional<std::string>&)>& edit);

} // namespace cudaenv::project
