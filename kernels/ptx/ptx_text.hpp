// The probe's own PTX: what is left to run without nvcc, and on a GPU that nvcc's machine code does
// not serve. Written by hand for an old instruction set and an old architecture, so that each
// driver since CUDA 9.0 compiles it for each GPU since Maxwell.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::kernels {

inline constexpr std::string_view k_oldest_isa = "6.0";
inline constexpr ComputeCapability k_ptx_target{5, 0};

// The text with `.version` ISA: the code is the same, what a driver refuses is the number.
// It has cudaenv_global and cudaenv_shared, as kernels/device/memory.cuh has them.
std::string ptx_text(std::string_view isa);

// The version of the PTX instruction set that each CUDA release brought. Pure.

// The highest `.version` that CUDA `cuda` (as 12.4) writes and its driver takes; none before 9.0
// and for majors that are not known yet.
std::optional<DottedVersion> ptx_isa_of_cuda(const DottedVersion& cuda);

} // namespace cudaenv::kernels
