// One word as a POSIX shell reads it back, without control characters. For commands that people
// paste; the hooks' other shells have their own renderers.
#pragma once

#include <algorithm>
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
    constexpr auto k_is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    };
    if (std::ranges::find_if(word, k_is_control) != word.end()) {
        // $'...' of POSIX 2024; bash and zsh have long had it. Three octal digits end for certain.
        std::string escaped = "$'";
        for (const char c : word) {
            if (k_is_control(c)) {
                const auto byte = static_cast<unsigned char>(c);
                escaped += '\\';
                for (const int shift : {6, 3, 0}) {
                    escaped += static_cast<char>('0' + ((byte >> shift) & 7));
                }
            } else {
                escaped += c == '\'' || c == '\\' ? "\\" : "";
                escaped += c;
            }
        }
        return escaped + '\'';
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
