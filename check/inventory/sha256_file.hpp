// The SHA-256 of open files. One hasher for each thread: it keeps its memory. Law: reads and does
// nothing else to the file; a file that changes meanwhile is reported as such, never as a digest.
#pragma once

#include "base/file_identity.hpp"
#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "solver/facts/inventory.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

struct evp_md_ctx_st;

namespace cudaenv::inventory {

// Whether a later change of the file is sure to show in its identity, as looked at at `now_ns`
// (since the epoch): not if it was changed just then, in what may be one tick of the clock.
bool is_settled(const FileIdentity& file, std::int64_t now_ns);

class FileHasher {
public:
    FileHasher();
    FileHasher(FileHasher&&) noexcept;
    FileHasher& operator=(FileHasher&&) noexcept;
    ~FileHasher();

    // `name` as seen from the directory open at `directory`, which has to be `expected` from
    // before it is read until after. Codes: those of host/file_system.hpp, "not-a-file", "changed",
    // k_stopped.
    Result<facts::Sha256Digest> hash(int directory, const char* name, const FileIdentity& expected,
                                     const GoesOn& wanted = {});

private:
    Result<std::uint64_t> read_all(int fd, std::uint64_t size, const GoesOn& wanted);

    struct Free {
        void operator()(evp_md_ctx_st* context) const;
    };
    std::unique_ptr<evp_md_ctx_st, Free> m_context;
    std::unique_ptr<char[]> m_memory;
};

// SHA-256 as 64 hexadecimal digits, as conda's records have it: 30,000 of them are decoded at a
// time.

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
