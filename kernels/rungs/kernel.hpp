// The rungs in which the probe's own code runs on a GPU whose context is current: machine code,
// old PTX, PTX of the runtime's version. False: the rung failed or was wrong.
#pragma once

#include "kernels/gpu_under_test.hpp"

#include <optional>

namespace cudaenv::kernels {

// Machine code where the probe has it for the GPU, else PTX. `driver_cuda`: as the driver tells it.
bool climb_kernel(const GpuUnderTest& gpu, const std::optional<DottedVersion>& driver_cuda);
bool climb_ptx(const GpuUnderTest& gpu);
bool climb_ptx_runtime(const GpuUnderTest& gpu);

} // namespace cudaenv::kernels
