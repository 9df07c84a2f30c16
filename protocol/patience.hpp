// How long a client waits for what takes long. Pure.
#pragma once

#include <chrono>

namespace cudaenv::protocol {

// Longer than the daemon's own deadlines for `probe --full --build` on a machine with 32 GPUs: it
// is the daemon that ends a driver which never answers, and reports where.
inline constexpr std::chrono::seconds k_probe_patience{1800};

} // namespace cudaenv::protocol
