#include "base/percent.hpp"

#include "base/ascii.hpp"

#include <utility>

namespace cudaenv {

namespace {

// -1 where `text` does not begin with % and two hexadecimal digits.
int escaped_byte(std::string_view text) {
    const auto digit = [](char c) {
        return is_digit(c)              ? c - '0'
               : (c >= 'a' && c <= 'f') ? c - 'a' + 10
               : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                        : -1;
    };
    const bool is_escape =
        text.size() > 2 && text[0] == '%' && digit(text[1]) >= 0 && digit(text[2]) >= 0;
    return is_escape ? digit(text[1]) * 16 + digit(text[2]) : -1;
}

} // namespace

std::string percent_decode(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const int byte = escaped_byte(text);
        out += byte >= 0 ? static_cast<char>(byte) : text.front();
        text.remove_prefix(byte >= 0 ? 3 : 1);
    }
    return out;
}

std::size_t percent_fault(std::string_view text) {
    std::size_t at = text.find('%');
    while (at != std::string_view::npos && escaped_byte(text.substr(at)) > 0) {
        at = text.find('%', at + 1);
    }
    return at;
}

std::string percent_encode(std::string_view bytes, std::string_view plain) {
    constexpr std::string_view k_digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : bytes) {
        if (is_alnum(c) || plain.find(c) != std::string_view::npos) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += k_digits[byte >> 4U];
        out += k_digits[byte & 15U];
    }
    return out;
}

std::optional<std::string> percent_restore(std::string_view text, std::string_view plain) {
    std::string bytes = percent_decode(text);
    const bool exact =
        bytes.find('\0') == std::string::npos && percent_encode(bytes, plain) == text;
    return exact ? std::optional(std::move(bytes)) : std::nullopt;
}

} // namespace cudaenv
