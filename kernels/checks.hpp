// What the probe's kernels are given and what they must compute, as the CPU computes it. Pure.
#pragma once

#include "base/compute_capability.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cudaenv::kernels {

// One kernel: (words in, words out, number of words in). Words out are zero before.
struct KernelCheck {
    std::string name;     // "tensor-fp16"
    std::string function; // "cudaenv_tensor_fp16"
    unsigned grid_x = 1;
    unsigned grid_y = 1;
    unsigned block = 1;
    std::vector<std::uint32_t> input;
    std::vector<std::uint32_t> expected;
    bool floats = false; // words out are binary32: -0 is 0
};

// The largest `input` and `expected` of all checks, in words.
inline constexpr std::size_t k_largest_check = std::size_t{1} << 18U;

// What the kernels of kernels/device/ must compute where they were compiled for `code`.
std::vector<KernelCheck> kernel_checks(ComputeCapability code);
// The same for kernels/ptx/.
std::vector<KernelCheck> ptx_checks();

// Empty where `output` is what is expected, else one line.
std::string difference(const KernelCheck& check, const std::vector<std::uint32_t>& output);

} // namespace cudaenv::kernels
