// One GPU while its rungs are climbed: its primary context, made current through the environment's
// own runtime, which also allocates.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"
#include "kernels/driver_api.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace cudaenv::kernels {

// The environment's libcudart, loaded. The same functions from CUDA 9.0 to 13.x.
struct RuntimeApi {
    std::string path;
    int version = 0; // 13000
    void* handle = nullptr;
    int (*runtime_get_version)(int*) = nullptr;
    int (*driver_get_version)(int*) = nullptr;
    int (*get_device_count)(int*) = nullptr;
    int (*set_device)(int) = nullptr;
    int (*allocate)(void**, std::size_t) = nullptr; // cudaMalloc
    int (*free)(void*) = nullptr;
    int (*copy)(void*, const void*, std::size_t, int) = nullptr; // 1 to the device, 2 from it
    int (*synchronize)() = nullptr;
    int (*get_last_error)() = nullptr;
    const char* (*get_error_name)(int) = nullptr;
};

struct GpuUnderTest {
    int ordinal = 0;
    // Why no context may be made on it (kernels/occupancy.hpp).
    MaybeStop left_alone;
    bool is_exclusive = false; // only one process at a time
    std::string in_use;        // who else uses it; empty: no other process
    ComputeCapability capability;
    const DriverApi* driver = nullptr;
    std::optional<DottedVersion> driver_cuda; // the driver's own number
    const RuntimeApi* runtime = nullptr;      // null: the environment has none
};

} // namespace cudaenv::kernels
