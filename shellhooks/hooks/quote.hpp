// One word as a shell's source text. Pure.
//
// Law: the shell that reads quote_word(shell, w) in a command sees exactly the one word w, whatever
// its bytes, newlines included. A word has no NUL, which no shell can pass on.
#pragma once

#include <string>
#include <string_view>

namespace cudaenv::hooks {

struct Shell;

// A word that needs no quotes stays as it is.
std::string quote_word(const Shell& shell, std::string_view word);

} // namespace cudaenv::hooks
