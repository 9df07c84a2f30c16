// A text for a shell that can only read it from a file: tcsh keeps no newlines in `eval`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::cli {

// Writes `text` to a new file that only this user can read, in the runtime directory or else in
// /tmp or /dev/shm, and gives back its path, one plain word. The file's first line removes it, so
// that whoever sources it need not, and no shell ever removes what it was merely told of. Nothing
// where no such file can be made.
std::optional<std::string> write_private_script(std::string_view text);

} // namespace cudaenv::cli
