// Version numbers as NVIDIA's libraries give them. Pure; what no library has ever said (an
// out-parameter left unwritten, garbage) is no version.
#pragma once

#include "base/dotted_version.hpp"

#include <optional>

namespace cudaenv::kernels {

// 11040 -> 11.4; from CUDA 5.0 on.
std::optional<DottedVersion> cuda_of_number(int number);

} // namespace cudaenv::kernels
