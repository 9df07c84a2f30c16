// As much of NVML as host facts need, loaded at run time: a machine without a driver has no such
// library, and cudaenv is built without NVIDIA's headers. Asking NVML creates no CUDA context.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::kernels {

struct NvmlGpu {
    unsigned index = 0;
    std::string name;
    std::string uuid;
    std::optional<ComputeCapability> compute_capability;
    std::optional<std::uint16_t> pci_device;
    std::optional<std::uint64_t> memory_bytes;
    bool mig = false;
};

struct NvmlFacts {
    std::optional<DottedVersion> driver;
    std::optional<DottedVersion> cuda;
    std::vector<NvmlGpu> gpus;
    std::vector<std::string> errors; // each thing that NVML refused or answered implausibly
};

// Takes as long as the driver takes: the caller runs it in a child with a deadline.
NvmlFacts ask_nvml();

// What the GPUs do just now, by NVML: no CUDA context is made and nothing is changed.

// {"driver_version", "gpus": [{"index", "name", "uuid", "memory_total", "memory_used" (bytes),
// "utilization" (percent), "temperature" (degrees Celsius), "power" (watts), "mig", "processes":
// [{"pid", "memory" (bytes), "graphics"}]}], "errors", "start_error"}: the last is what nvmlInit
// refused with. A number that NVML does not give is absent. Processes are those that NVML shows to
// this user, by the ids of its own namespace.
nlohmann::json gpu_usage();

} // namespace cudaenv::kernels
