// UTF-8 as RFC 3629 has it: no surrogates, no longer forms than needed, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace cudaenv {

// Bytes of the character at the head of `text`; 0 where they form no character.
constexpr std::size_t utf8_length(std::string_view text) {
    const auto in = [&](std::size_t at, unsigned least, unsigned most) {
        const unsigned byte = at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
        return byte >= least && byte <= most;
    };
    if (in(0, 0xc2, 0xdf)) {
        return in(1, 0x80, 0xbf) ? 2 : 0;
    }
    if (in(0, 0xe0, 0xef)) {
        const bool second = in(1, in(0, 0xe0, 0xe0) ? 0xa0 : 0x80, in(0, 0xed, 0xed) ? 0x9f : 0xbf);
        return second && in(2, 0x80, 0xbf) ? 3 : 0;
    }
    if (in(0, 0xf0, 0xf4)) {
        const bool second = in(1, in(0, 0xf0, 0xf0) ? 0x90 : 0x80, in(0, 0xf4, 0xf4) ? 0x8f : 0xbf);
        return second && in(2, 0x80, 0xbf) && in(3, 0x80, 0xbf) ? 4 : 0;
    }
    return !text.empty() && static_cast<unsigned char>(text[0]) < 0x80 ? 1 : 0;
}

// The offset of the first byte that is not part of a character; the size where all are.
constexpr std::size_t utf8_end(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t length =
            static_cast<unsigned char>(text[at]) < 0x80 ? 1 : utf8_length(text.substr(at));
        if (length == 0) {
            break;
        }
        at += length;
    }
    return at;
}

constexpr bool is_utf8(std::string_view text) {
    return utf8_end(text) == text.size();
}

} // namespace cudaenv
