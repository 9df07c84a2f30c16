// Whole reads and writes of an open file: a call that is interrupted or does only a part goes on.
// On failure errno says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace cudaenv {

// Bytes read, fewer than `want` only at the end; -1 on failure. Without `offset`, from the
// descriptor's own position, which then moves.
ssize_t read_full(int fd, char* into, std::size_t want,
                  std::optional<std::uint64_t> offset = std::nullopt);

// Up to the end, at most `most` bytes. Works for /proc and /sys, where files have no size.
std::optional<std::string> read_rest(int fd, std::size_t most);

bool write_full(int fd, std::string_view bytes, std::optional<std::uint64_t> offset = std::nullopt);

} // namespace cudaenv
