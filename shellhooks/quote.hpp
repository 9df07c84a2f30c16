// One word as a shell's source text. Pure.
//
// Law: the shell that reads quote_word(shell, w) in a command sees exactly the one word w, whatever
// its bytes, newlines included. A word holds no NUL: no shell can pass one on.
#pragma once

#include "shellhooks/shell.hpp"

#include <string>
#include <string_view>

namespace cudaenv::shellhooks {

// As short as it can be: a word of letters, digits and _@%+:,./- stays as it is, and = where it is
// not the first character.
std::string quote_word(Shell shell, std::string_view word);

} // namespace cudaenv::shellhooks
