// A zstd-compressed file, decompressed window by window.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace cudaenv::channels {

// Gets each decompressed window; false stops the work.
using WindowSink = std::function<bool(std::span<const char>)>;

enum class StreamEnd { Whole, Stopped };

// Reads `fd` from its beginning. `largest` bounds the decompressed text. Errors: "bad-zstd"
// (damaged, truncated, or a text that is only big: see the .cpp), "cannot-read". Memory: two
// windows and zstd's own, at most 128 MiB.
Result<StreamEnd> decompress(int fd, std::uint64_t largest, const WindowSink& sink);

} // namespace cudaenv::channels
