// A file that we created says so in a comment, with the number of directories that were created for
// it: removing the file removes exactly these.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::cli {

// The comment for the new text of `path`, whose content is `before`: the existing one, or a new one
// if there is no file. Empty: the file is the user's.
std::string creation_note(const std::string& path, const std::optional<std::string>& before);

// How many directories were created for the file; nothing if the text has no such comment.
std::optional<int> created_directories(std::string_view text);

// Removes up to `count` directories above `path`, as long as they are empty.
void remove_directories_above(std::string path, int count);

} // namespace cudaenv::cli
