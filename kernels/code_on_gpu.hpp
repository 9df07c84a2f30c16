// Device code on a GPU: loaded by the driver API into the context that is current, its kernels
// launched on memory of the environment's runtime, the results compared with the CPU's.
#pragma once

#include "kernels/checks.hpp"
#include "kernels/gpu_under_test.hpp"
#include "kernels/rungs/stop.hpp"

#include <string>
#include <vector>

namespace cudaenv::kernels {

inline constexpr const char* k_load_call = "cuModuleLoadDataEx";

// `image`: a fatbin, or PTX with a zero at its end. The GPU's context is current. `passed` takes
// the names of the checks that were right, until the first that is not.
MaybeStop run_checks(const GpuUnderTest& gpu, const void* image,
                     const std::vector<KernelCheck>& checks, std::vector<std::string>& passed);

} // namespace cudaenv::kernels
