// A block of ours in a text of the user's, between two lines that mark it. Pure.
//
// Law: without_block(with_block(t, b)) == t for every t without a block; outside the block no byte
// changes; with_block twice is with_block once.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace cudaenv::cli {

// `lines` are whole, without the marks: those are `# >>> cudaenv >>>` and `# <<< cudaenv <<<`. A
// block that is there is replaced where it stands; else it goes to the end. Error "broken-block": a
// begin without an end, with its line.
Result<std::string> with_block(std::string_view text, std::string_view lines);
Result<std::string> without_block(std::string_view text);

} // namespace cudaenv::cli
