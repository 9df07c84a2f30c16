// Bytes that need not be UTF-8 (names of files) where only text goes: whether they are text, and
// the hexadecimal digits that stand for them where they are not.
#pragma once

#include "base/utf8.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv {

// The last `most` bytes at most, from where a character of UTF-8 begins.
inline std::string_view last_bytes(std::string_view text, std::size_t most) {
    if (text.size() <= most) {
        return text;
    }
    text.remove_prefix(text.size() - most);
    for (int tail = 0; tail < 3 && !text.empty(); ++tail) {
        if ((static_cast<unsigned char>(text.front()) & 0xc0U) != 0x80U) {
            break;
        }
        text.remove_prefix(1);
    }
    return text;
}

// "2f70ff".
inline std::string to_hex(std::string_view bytes) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    std::string digits;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        (digits += k_digits[byte >> 4U]) += k_digits[byte & 0xfU];
    }
    return digits;
}

// None where it is not pairs of 0-9 and a-f.
inline std::optional<std::string> from_hex(std::string_view digits) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    if (digits.size() % 2 != 0) {
        return std::nullopt;
    }
    std::string bytes;
    for (std::size_t at = 0; at < digits.size(); at += 2) {
        const std::size_t high = k_digits.find(digits[at]);
        const std::size_t low = k_digits.find(digits[at + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) {
            return std::nullopt;
        }
        bytes += static_cast<char>(high << 4U | low);
    }
    return bytes;
}

} // namespace cudaenv
