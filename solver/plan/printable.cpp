#include "solver/plan/printable.hpp"

#include <array>

namespace cudaenv::plan {

namespace {

// Length of the UTF-8 sequence at the head of `bytes`, 0 where there is none (RFC 3629, table 3-7
// of the Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t sequence_length(std::string_view bytes) {
    const auto byte = [&](std::size_t i) {
        return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
    };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return continues(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        const bool second = (first != 0xE0 || byte(1) >= 0xA0) && (first != 0xED || byte(1) < 0xA0);
        return second && continues(1) && continues(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool second = (first != 0xF0 || byte(1) >= 0x90) && (first != 0xF4 || byte(1) < 0x90);
        return second && continues(1) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

std::string escaped(unsigned char byte) {
    constexpr std::array<char, 17> k_digits{"0123456789abcdef"};
    switch (byte) {
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        return {'\\', 'x', k_digits[byte >> 4U], k_digits[byte & 15U]};
    }
}

} // namespace

std::string printable(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        const auto first = static_cast<unsigned char>(bytes[0]);
        const std::size_t length = sequence_length(bytes);
        // U+0080..U+009F are control characters too: some terminals obey them.
        const bool control =
            first < 0x20 || first == 0x7F ||
            (first == 0xC2 && length == 2 && static_cast<unsigned char>(bytes[1]) < 0xA0);
        if (length == 0 || control) {
            out += escaped(first);
            if (length == 2) {
                out += escaped(static_cast<unsigned char>(bytes[1]));
            }
        } else {
            out += bytes.substr(0, length);
        }
        bytes.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

std::string quoted(std::string_view bytes, std::size_t most) {
    if (bytes.size() <= most) {
        return '"' + printable(bytes) + '"';
    }
    while (most > 0 && (static_cast<unsigned char>(bytes[most]) & 0xC0U) == 0x80U) {
        --most; // not in the middle of a character
    }
    return '"' + printable(bytes.substr(0, most)) + "...\"";
}

std::string one_line(const Error& error) {
    std::string text = printable(error.path);
    if (error.line > 0) {
        text += " line " + std::to_string(error.line);
    }
    text += (text.empty() ? "" : ": ") + error.message;
    return error.hint.empty() ? text : text + "; " + error.hint;
}

} // namespace cudaenv::plan
