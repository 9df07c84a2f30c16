// A file that was not there before we wrote it says so in a comment, with how many directories
// above it were not there either: its removal takes exactly these with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::cli {

// A line for what is about to be written to `path`, where `before` is its content: the one that is
// in there, or a new one where there is no file. Empty: the file was the user's.
std::string creation_note(const std::string& path, const std::optional<std::string>& before);

// How many directories above it were created with the file; none where the text has no note.
std::optional<int> created_directories(std::string_view text);

// `count` directories above `path`, as long as they are empty: what lies in them is the user's.
void remove_directories_above(std::string path, int count);

} // namespace cudaenv::cli
