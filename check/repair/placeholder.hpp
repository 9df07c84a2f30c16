// What conda does to files that have the build's prefix in them. Pure text. Law: who uses the
// result compares its digest with that on record, so a rule that some installer has otherwise costs
// a file that is not put back, never a wrong one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::repair {

// Every `placeholder` becomes `prefix`. A first line that the kernel would not read then (longer
// than 127 bytes, or a prefix with a blank) becomes `#!/usr/bin/env PROGRAM ARGUMENTS`.
std::string with_prefix_in_text(std::string_view content, std::string_view placeholder,
                                std::string_view prefix);
// In each string that ends in a NUL; what it loses in length is NULs at its end, so that nothing
// behind it moves. None where the prefix is longer than the placeholder.
std::optional<std::string> with_prefix_in_binary(std::string_view content,
                                                 std::string_view placeholder,
                                                 std::string_view prefix);

} // namespace cudaenv::repair
