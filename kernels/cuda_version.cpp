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

std::optional<DottedVersion> driver_of_file(std::string_view path) {
    constexpr std::string_view k_so = ".so.";
    const auto at = path.rfind(k_so);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    auto version = DottedVersion::parse(path.substr(at + k_so.size()));
    // Drivers have been called by three digits since 2008; smaller numbers are sonames.
    if (!version || version->major() < 100 || version->parts().size() < 2) {
        return std::nullopt;
    }
    return std::move(*version);
}

} // namespace cudaenv::kernels
