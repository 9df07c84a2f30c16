// A block of ours in the user's text, between two marker lines. Pure.
//
// Law: without_block(with_block(t, b)) == t for every t without a block; outside the block no byte
// changes; with_block twice is with_block once.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace cudaenv::cli {

inline constexpr std::string_view k_block_begin = "# >>> cudaenv >>>";
inline constexpr std::string_view k_block_end = "# <<< cudaenv <<<";

// `lines` are whole lines without the markers `# >>> cudaenv >>>` and `# <<< cudaenv <<<`. Replaces
// an existing block in place, else appends one. Error "broken-block": a begin without an end, with
// its line.
Result<std::string> with_block(std::string_view text, std::string_view lines);
Result<std::string> without_block(std::string_view text);

} // namespace cudaenv::cli
