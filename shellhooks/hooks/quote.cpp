#include "shellhooks/hooks/quote.hpp"

#include "shellhooks/hooks/shell.hpp"

#include <algorithm>
#include <cassert>

namespace cudaenv::hooks {

namespace {

bool is_plain(const Shell& shell, char c) {
    // Not the locale's isalnum: a byte above 127 is not plain in any shell we write for.
    const bool alphanumeric =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return alphanumeric || std::string_view("_+:./-").find(c) != std::string_view::npos ||
           shell.plain_marks.find(c) != std::string_view::npos;
}

bool is_plain_word(const Shell& shell, std::string_view word) {
    // zsh expands =word to the path of a command; old versions of fish expand a leading % to a
    // process.
    return !word.empty() && word.front() != '=' && word.front() != '%' &&
           std::ranges::all_of(word, [&](char c) { return is_plain(shell, c); });
}

} // namespace

std::string quote_word(const Shell& shell, std::string_view word) {
    assert(word.find('\0') == std::string_view::npos);
    return is_plain_word(shell, word) ? std::string(word) : shell.quote(word);
}

} // namespace cudaenv::hooks
