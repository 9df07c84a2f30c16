// The rungs with which every ladder begins: the driver, each GPU, the environment's libcudart. Each
// begins and ends its own rung (kernels/reporter.hpp).
//
// Law: no setting of a GPU is touched; a refusal is reported as the call and its number, nothing is
// retried; nothing throws.
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

// One device, and whether it is left alone. None: it failed.
std::optional<GpuUnderTest> climb_gpu(const DriverApi& api, int ordinal, OccupancySource& nvml);

enum class RuntimeFound { Answers, Absent, Fails };
// The environment's libcudart answers. It asks the loader for libcuda.so.1 and gets the one that
// the probe has opened, wherever that was.
RuntimeFound climb_runtime(const std::vector<std::string>& files, const DriverApi& driver,
                           RuntimeApi& api);

} // namespace cudaenv::kernels
