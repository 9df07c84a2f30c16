#include "kernels/cuda_version.hpp"

#include <string>

namespace cudaenv::kernels {

std::optional<DottedVersion> cuda_of_number(int number) {
    // CUDA 5.0 is the oldest that NVML can be asked about, and the last digit has always been 0.
    if (number < 5000 || number > 99'990 || number % 10 != 0 || number % 1000 / 10 > 30) {
        return std::nullopt;
    }
    return DottedVersion::of(std::to_string(number / 1000) + '.' +
                             std::to_string(number % 1000 / 10));
}

} // namespace cudaenv::kernels
