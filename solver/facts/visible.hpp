// CUDA_VISIBLE_DEVICES, read as the driver reads it: which of a host's GPUs a program here would
// see. Pure.
#pragma once

#include "solver/facts/host.hpp"

#include <string_view>

namespace cudaenv::facts {

// `devices`: the variable's value. Indexes and UUID prefixes (GPU-..., MIG-...), in the order
// given; the first that means no GPU, -1 among them, ends the list; empty shows none. An index is
// NVML's, by PCI bus.
Host narrowed_to_visible(Host host, std::string_view devices);

} // namespace cudaenv::facts
