// The rungs of the driver, of each GPU and of the environment's libcudart: what every ladder begins
// with. Each begins and ends its own rung (kernels/reporter.hpp).
//
// Law: a few MB by plain allocations, all given back; no setting of a GPU is touched; a GPU that
// refuses is told as the call and its number, nothing is tried again; nothing throws.
#pragma once

#include "kernels/gpu_under_test.hpp"
#include "kernels/occupancy.hpp"
#include "kernels/rungs/gpu_work.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::kernels {

// The driver's library is loaded into `api`. False: it was not.
bool climb_library(DriverApi& api);

struct DriverAnswer {
    int devices = 0;
    std::optional<DottedVersion> cuda;
};
// cuInit, the driver's CUDA version, how many devices. None: it failed.
std::optional<DriverAnswer> climb_driver(const DriverApi& api);

// One device, and whether it is to be left alone. None: it failed.
std::optional<GpuUnderTest> climb_gpu(const DriverApi& api, int ordinal, OccupancySource& nvml);

enum class RuntimeFound { Answers, Absent, Fails };
// The environment's libcudart answers. It asks the loader for libcuda.so.1, and is given the one
// that the probe has opened, wherever that was.
RuntimeFound climb_runtime(const std::vector<std::string>& files, const DriverApi& driver,
                           RuntimeApi& api);

// The GPU is made current; memory is allocated, written and read back. False: it failed. Nothing is
// called where the GPU is left alone.
bool climb_memory(const GpuUnderTest& gpu, CurrentGpu& current);

} // namespace cudaenv::kernels
