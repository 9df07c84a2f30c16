// A text for a shell that can read it only from a file: `eval` of tcsh keeps no newlines.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::cli {

// Writes `text` to a new file that only this user can read, in the runtime directory or else in
// /tmp or /dev/shm, and returns its path, one plain word. The file's first line removes it, so that
// no shell ever removes a file just because this program printed its name. Nothing if no such file
// can be created.
std::optional<std::string> write_private_script(std::string_view text);

} // namespace cudaenv::cli
