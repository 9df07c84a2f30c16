// The numbers by which CUDA's libraries say their versions, read; and what the CPU says to the
// small problems that they are given. Pure.
#pragma once

#include "base/compute_capability.hpp"
#include "kernels/rungs/stop.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::kernels {

// 91900 -> "9.19.0", 8907 -> "8.9.7": cuDNN counts the major in ten thousands from 9 on.
std::string cudnn_version(std::size_t number);
// 130100 -> "13.1.0", 10202 -> "10.2.2": cuBLAS from 11 on.
std::string cublas_version(int number);
// 22707 -> "2.27.7", 2708 -> "2.7.8": NCCL from 2.9 on.
std::string nccl_version(int number);

// "8.4" of ".version 8.4"; empty where the text has no such line.
std::string ptx_isa(std::string_view ptx);

// "sm_90", "compute_90".
std::string architecture_name(std::string_view prefix, ComputeCapability capability);

// The highest of `supported` (90 for 9.0, 120 for 12.0) whose PTX serves the GPU; none where it is
// older than all.
std::optional<int> highest_architecture_for(ComputeCapability capability,
                                            std::span<const int> supported);
// What an NVRTC may know that does not list them (before 11.2), from the newest.
std::span<const int> architectures_of_old_nvrtc();

// Small integers, of which sums of products are exact in FP32, and whose rounding to TF32 and FP16
// changes nothing: -3 to 3.
std::vector<float> small_integers(std::size_t count, unsigned seed);

// IEEE half of an integer of at most 2048 in size.
std::uint16_t half_of_integer(int value);

// C = A * B of n x n matrices, columns first, as BLAS has them.
std::vector<float> product(std::span<const float> a, std::span<const float> b, std::size_t n);

// The cross-correlation of an image with a filter, rows first, zeros around it so that the result
// is as large as the image. `filter_side` is odd.
std::vector<float> cross_correlation(std::span<const float> image, std::size_t side,
                                     std::span<const float> filter, std::size_t filter_side);

// "element 5 is 3, and should be 4" of the first that differs by more than `tolerance`, taken of
// the size of the right value (of 1 for a smaller one).
std::optional<std::string> first_difference(std::span<const float> got,
                                            std::span<const float> right, double tolerance);

// How a rung loads its library.
struct LoadedLibrary {
    void* handle = nullptr;
    std::string path;  // links followed; of a refusal the refused file, by the name it had
    MaybeStop refusal; // why a file that exists was not loaded; none: no file exists
};
// dlopen of one file, which is reported first; null with the reason in `refusal`. A file that is
// cut short is not opened: mapping it would end the process.
void* open_whole(const std::string& file, MaybeStop& refusal);
// dlopen of the first of `files` that loads.
LoadedLibrary load_first(const std::vector<std::string>& files);

} // namespace cudaenv::kernels
