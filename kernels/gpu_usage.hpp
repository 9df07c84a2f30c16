// What the GPUs do just now, by NVML: no CUDA context is made and nothing is changed.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace cudaenv::kernels {

// {"driver_version", "gpus": [{"index", "name", "uuid", "memory_total", "memory_used" (bytes),
// "utilization" (percent), "temperature" (degrees Celsius), "power" (watts), "mig", "processes":
// [{"pid", "memory" (bytes), "graphics"}]}], "errors", "start_error"}: the last is what nvmlInit
// refused with. A number that NVML does not give is absent. Processes are those that NVML shows to
// this user, by the ids of its own namespace.
nlohmann::json gpu_usage();

} // namespace cudaenv::kernels
