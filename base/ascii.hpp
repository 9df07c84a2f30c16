// Classes of ASCII characters. Law: no locale, and no class contains a byte above 127.
#pragma once

namespace cudaenv {

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
constexpr bool is_letter(char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}
constexpr bool is_alnum(char c) {
    return is_letter(c) || is_digit(c);
}
// Blank, tab, newline, vertical tab, form feed, carriage return.
constexpr bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

} // namespace cudaenv
