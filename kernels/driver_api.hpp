// As much of the CUDA driver API as the ladder needs, loaded at run time; cudaenv is built without
// NVIDIA's headers. Names and numbers are cuda.h's.
#pragma once

#include "base/dotted_version.hpp"
#include "kernels/rungs/stop.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::kernels {

using CuDevice = int;
using CuContext = void*;
using CuModule = void*;
using CuFunction = void*;
using CuDevicePointer = unsigned long long;

// Every pointer may be null: an old driver lacks the newer ones.
struct DriverApi {
    // The file that was loaded, links followed; where none was: the one that the loader refused, or
    // the link to nothing that it passed over, by the name by which it was met.
    std::string path;
    std::vector<std::string> links_to_nothing; // which the loader passed over
    // Which place served: "loader", "wsl" or "linker-name". A runtime asks the loader only.
    std::string_view found_by;
    bool tells_instances = false; // cuDeviceGetUuid_v2 is there: a MIG instance has its own
    int (*init)(unsigned) = nullptr;
    int (*driver_get_version)(int*) = nullptr;
    int (*device_get_count)(int*) = nullptr;
    int (*device_get)(CuDevice*, int) = nullptr;
    int (*device_get_name)(char*, int, CuDevice) = nullptr;
    int (*device_get_uuid)(void*, CuDevice) = nullptr; // cuDeviceGetUuid_v2, else cuDeviceGetUuid
    int (*device_get_attribute)(int*, int, CuDevice) = nullptr;
    int (*device_total_mem)(std::size_t*, CuDevice) = nullptr;
    int (*primary_context_retain)(CuContext*, CuDevice) = nullptr;
    int (*primary_context_release)(CuDevice) = nullptr;
    int (*context_set_current)(CuContext) = nullptr;
    int (*context_synchronize)() = nullptr;
    int (*memory_get_info)(std::size_t*, std::size_t*) = nullptr;
    // For a machine without any libcudart; else the environment's own allocates.
    int (*memory_allocate)(CuDevicePointer*, std::size_t) = nullptr;
    int (*memory_free)(CuDevicePointer) = nullptr;
    int (*copy_to_device)(CuDevicePointer, const void*, std::size_t) = nullptr;
    int (*copy_from_device)(void*, CuDevicePointer, std::size_t) = nullptr;
    int (*module_load_data_ex)(CuModule*, const void*, unsigned, int*, void**) = nullptr;
    int (*module_unload)(CuModule) = nullptr;
    int (*module_get_function)(CuFunction*, CuModule, const char*) = nullptr;
    int (*launch_kernel)(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void*, void**, void**) = nullptr;
    int (*get_error_name)(int, const char**) = nullptr;
};

// The driver's library as the loader finds it (LD_LIBRARY_PATH is part of the question), then
// WSL's, then what a toolkit's stubs directory has. Refused: the library that programs would load
// is not there or broken; the loader's words.
MaybeStop load_driver_api(DriverApi& api);

// "CUDA_ERROR_NO_DEVICE" as the driver itself says; empty where it cannot.
std::string driver_error_name(const DriverApi& api, int error);
// `call` returned `error`, which is not 0.
Stop driver_failed(const DriverApi& api, std::string call, int error, std::string message = {});

// Version numbers as NVIDIA's libraries give them. Pure; what no library has ever said (an
// out-parameter left unwritten, garbage) is no version.

// 11040 -> 11.4; from CUDA 5.0 on.
std::optional<DottedVersion> cuda_of_number(int number);

} // namespace cudaenv::kernels
