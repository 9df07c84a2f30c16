// SHA-256 as 64 hexadecimal digits, as conda's records have it: 30,000 of them are decoded at a
// time.
#pragma once

#include "solver/facts/inventory.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace cudaenv::inventory {

inline constexpr std::array<std::uint8_t, 256> k_hex_values = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(0xff);
    for (std::uint8_t value = 0; value < 16; ++value) {
        values[static_cast<unsigned char>("0123456789abcdef"[value])] = value;
        values[static_cast<unsigned char>("0123456789ABCDEF"[value])] = value;
    }
    return values;
}();

// 0 to 15; 255 of what is no digit.
constexpr std::uint8_t hex_value(char digit) {
    return k_hex_values[static_cast<unsigned char>(digit)];
}

// False, with anything in `into`, for what is no such text.
constexpr bool decode_hex(std::string_view text, facts::Sha256Digest& into) {
    if (text.size() != 2 * into.size()) {
        return false;
    }
    unsigned wrong = 0;
    for (std::size_t at = 0; at < into.size(); ++at) {
        const unsigned high = hex_value(text[2 * at]);
        const unsigned low = hex_value(text[2 * at + 1]);
        wrong |= (high | low) & 0xf0U;
        into[at] = static_cast<std::uint8_t>((high << 4U) | low);
    }
    return wrong == 0;
}

} // namespace cudaenv::inventory
