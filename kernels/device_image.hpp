// The machine code that was built into the probe (kernels/device/), if there was an nvcc.
#pragma once

#include "base/compute_capability.hpp"

#include <optional>
#include <vector>

namespace cudaenv::kernels {

struct DeviceImage {
    const void* fatbin = nullptr;                // null: built without nvcc
    std::vector<ComputeCapability> machine_code; // rising
    ComputeCapability ptx;                       // what its PTX is for: newer GPUs than all above
    DottedVersion cuda;                          // nvcc's
};
const DeviceImage& device_image();

// Which of `machine_code` runs on the GPU: the newest of its major that is not newer than it.
std::optional<ComputeCapability>
machine_code_for(const std::vector<ComputeCapability>& machine_code, ComputeCapability gpu);

} // namespace cudaenv::kernels
