// Any bytes as direnv's DIRENV_DIFF, as it is and packed as direnv packs it: what cannot be read
// stays, what nothing is changed of stays, and what was changed once has nothing left to change.
#include "shellhooks/patch/direnv_diff.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <zlib.h>

namespace {

using namespace cudaenv::patch;

std::string packed(const std::uint8_t* data, std::size_t size) {
    std::string bytes(::compressBound(size), '\0');
    uLongf length = bytes.size();
    // zlib's bytes.
    require(::compress(reinterpret_cast<Bytef*>(bytes.data()), &length, data, size) == Z_OK);
    bytes.resize(length);
    constexpr const char* k_digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string text;
    unsigned held = 0;
    int bits = 0;
    for (const char byte : bytes) {
        held = (held << 8U) | static_cast<unsigned char>(byte);
        for (bits += 8; bits >= 6; bits -= 6) {
            text += k_digits[(held >> (bits - 6)) & 63U];
        }
    }
    if (bits > 0) {
        text += k_digits[(held << (6 - bits)) & 63U];
    }
    while (text.size() % 4 != 0) {
        text += '=';
    }
    return text;
}

void check(const std::string& text) {
    const auto same = [](const std::string&, const std::string& value) {
        return std::optional(value);
    };
    require(mended_direnv_diff(text, same) == text);
    const auto gone = [](const std::string& name, const std::string& value) {
        return name == "CUDA_HOME" ? std::nullopt : std::optional(value);
    };
    const std::string mended = mended_direnv_diff(text, gone);
    require(mended_direnv_diff(mended, gone) == mended);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    check(std::string(reinterpret_cast<const char*>(data), size)); // the fuzzer's bytes are text
    check(packed(data, size));
    return 0;
}
