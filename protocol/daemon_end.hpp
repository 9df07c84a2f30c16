// The exit statuses of a cudaenvd that ends before it answers, for whoever started it. Pure.
#pragma once

namespace cudaenv::protocol {

inline constexpr int k_ended_without_descriptors = 4;
inline constexpr int k_ended_without_memory = 5;

} // namespace cudaenv::protocol
