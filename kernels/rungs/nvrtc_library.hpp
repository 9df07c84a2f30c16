// NVRTC as a compiler, 9.0 to 13.x: a source text in, machine code and PTX out. It needs no GPU.
#pragma once

#include "base/compute_capability.hpp"
#include "kernels/rungs/library_numbers.hpp"

#include <cstddef>
#include <string>

namespace cudaenv::kernels {

// Those after destroy_program may be null: older ones lack them.
struct NvrtcApi {
    int (*version)(int*, int*) = nullptr;
    const char* (*get_error_string)(int) = nullptr;
    int (*create_program)(void**, const char*, const char*, int, const char* const*,
                          const char* const*) = nullptr;
    int (*compile_program)(void*, int, const char* const*) = nullptr;
    int (*get_ptx_size)(void*, std::size_t*) = nullptr;
    int (*get_ptx)(void*, char*) = nullptr;
    int (*get_log_size)(void*, std::size_t*) = nullptr;
    int (*get_log)(void*, char*) = nullptr;
    int (*destroy_program)(void**) = nullptr;
    int (*get_cubin_size)(void*, std::size_t*) = nullptr; // 11.1
    int (*get_cubin)(void*, char*) = nullptr;             // 11.1
    int (*get_supported_archs_count)(int*) = nullptr;     // 11.2
    int (*get_supported_archs)(int*) = nullptr;           // 11.2
};

MaybeStop load_nvrtc_api(const LoadedLibrary& library, NvrtcApi& api);

struct NvrtcOutput {
    std::string machine_code;              // empty: it makes none for this GPU
    std::string machine_code_architecture; // "sm_90"
    std::string ptx;
    std::string ptx_architecture; // "compute_90"
};

// For the GPU itself where it knows it, else PTX of the highest that it knows below it.
MaybeStop compile_for(const NvrtcApi& api, const std::string& source, ComputeCapability capability,
                      NvrtcOutput& output);

} // namespace cudaenv::kernels
