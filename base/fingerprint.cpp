#include "base/fingerprint.hpp"

#include <cstdint>

namespace cudaenv {

std::string fingerprint(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char byte : text) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
    return std::to_string(hash);
}

} // namespace cudaenv
