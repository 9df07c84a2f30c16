// Version numbers as NVIDIA's libraries give them. Pure; what no library has ever said (an
// out-parameter left unwritten, garbage) is no version.
#pragma once

#include "base/dotted_version.hpp"

#include <optional>
#include <string_view>

namespace cudaenv::kernels {

// 11040 -> 11.4; from CUDA 5.0 on.
std::optional<DottedVersion> cuda_of_number(int number);

// The driver's version, as its library's file is called: libcuda.so.580.65.06 -> 580.65.06. None
// where the name has no such number (WSL's libcuda.so.1.1, a stub's libcuda.so).
std::optional<DottedVersion> driver_of_file(std::string_view path);

} // namespace cudaenv::kernels
