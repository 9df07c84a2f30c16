// Variables that only building reads: for = "build". Pure. Internal to shellhooks/activation.
#pragma once

#include "shellhooks/activation/choice.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::activation {

struct DeviceTargets {
    std::string torch; // TORCH_CUDA_ARCH_LIST: "8.6;9.0+PTX"; empty: nothing is known to build for
    std::string cmake; // CUDAARCHS: "86;90"
    std::vector<std::string> notes;
};
// For the GPUs that programs of this shell see, or where there is none for resolve.targets, as far
// as `nvcc` knows them.
DeviceTargets device_targets(const Situation& situation, const std::optional<DottedVersion>& nvcc);

// How many compilations may run at a time, by cores and memory: at least 1.
int build_jobs(const facts::BuildMachine& machine);

} // namespace cudaenv::activation
