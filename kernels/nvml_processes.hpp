// Which processes NVML shows on a GPU, by whichever form of the question the driver has.
#pragma once

#include "kernels/nvml_library.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace cudaenv::kernels {

struct NvmlProcess {
    unsigned pid = 0;
    std::optional<std::uint64_t> memory; // bytes; unknown on WSL
};

// Those that compute, or with `graphics` those that draw. None where NVML does not say.
std::optional<std::vector<NvmlProcess>> running_processes(Nvml& nvml, NvmlDevice device,
                                                          bool graphics);

} // namespace cudaenv::kernels
