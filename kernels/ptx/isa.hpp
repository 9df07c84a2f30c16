// The version of the PTX instruction set that each CUDA release brought. Pure.
#pragma once

#include "base/dotted_version.hpp"

#include <optional>

namespace cudaenv::kernels {

// The highest `.version` that CUDA `cuda` (as 12.4) writes and its driver takes; none before 9.0
// and for majors that are not known yet.
std::optional<DottedVersion> ptx_isa_of_cuda(const DottedVersion& cuda);

} // namespace cudaenv::kernels
