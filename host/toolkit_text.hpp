// What a toolkit's own files say of its versions. Pure functions over text and names.
#pragma once

#include "base/dotted_version.hpp"

#include <optional>
#include <string_view>

namespace cudaenv::host {

// version.json (11.1 and newer): nvcc's own version where it is listed, else the SDK's.
std::optional<DottedVersion> parse_version_json(std::string_view text);
// version.txt (11.0 and older): "CUDA Version 10.0.130".
std::optional<DottedVersion> parse_version_txt(std::string_view text);
// `#define CUDA_VERSION 13000` of cuda.h, CUDART_VERSION of cuda_runtime_api.h: major.minor only.
std::optional<DottedVersion> parse_cuda_define(std::string_view header, std::string_view macro);
// `nvcc --version`: "release 11.3, V11.3.109".
std::optional<DottedVersion> parse_nvcc_version(std::string_view text);

// cudnn_version.h (8 and newer) or cudnn.h (7 and older).
std::optional<DottedVersion> parse_cudnn_header(std::string_view header);
std::optional<DottedVersion> parse_nccl_header(std::string_view header);
// "libcudnn.so.8.2.1" -> 8.2.1 for library "libcudnn"; a bare libcudnn.so.9 gives 9.
std::optional<DottedVersion> parse_library_name(std::string_view file_name,
                                                std::string_view library);

// Which host compilers a toolkit accepts, read out of its own crt/host_config.h. Pure.
// Every release of CUDA has one #if that compares __GNUC__ or __clang_major__ with numbers, and
// below it the #error "unsupported GNU version" or "unsupported clang version".

// Major versions; none where the header sets no such bound.
struct CompilerBounds {
    std::optional<int> gcc_min;
    std::optional<int> gcc_max;
    std::optional<int> clang_min;
    std::optional<int> clang_max;
};

// None where the text checks no compiler at all, as the wrapper include/host_config.h of 9.0 and
// newer. A bound inside a major (8.0's gcc 5.3) counts the whole major.
std::optional<CompilerBounds> parse_host_config(std::string_view header);

} // namespace cudaenv::host
