// A SHA-256 digest as it is written in source. Pure, at compile time.
#pragma once

#include "solver/facts/inventory.hpp"

#include <cstdint>
#include <string_view>

namespace cudaenv::rules {

consteval facts::Sha256Digest known_digest(std::string_view hex) {
    facts::Sha256Digest digest{};
    for (std::size_t i = 0; i < hex.size(); ++i) {
        const auto value = hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10;
        digest[i / 2] = static_cast<std::uint8_t>(digest[i / 2] * 16 + value);
    }
    return digest;
}

} // namespace cudaenv::rules
