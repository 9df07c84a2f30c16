// One word as a POSIX shell reads it back. For commands that people paste; the hooks' other shells
// have their own renderers.
#pragma once

#include <string>
#include <string_view>

namespace cudaenv {

// The word itself where no character of it means anything to a shell, else in single quotes.
inline std::string shell_word(std::string_view word) {
    constexpr std::string_view k_plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789_@%+=:,./-";
    if (!word.empty() && word.find_first_not_of(k_plain) == std::string_view::npos) {
        return std::string(word);
    }
    std::string quoted = "'";
    for (const char c : word) {
        if (c == '\'') {
            quoted += "'\\''";
        } else {
            quoted += c;
        }
    }
    return quoted + '\'';
}

} // namespace cudaenv
