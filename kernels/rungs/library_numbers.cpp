#include "kernels/rungs/library_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cudaenv::kernels {
namespace {

std::string dotted(std::size_t number, std::size_t major_unit) {
    return std::to_string(number / major_unit) + '.' + std::to_string(number % major_unit / 100) +
           '.' + std::to_string(number % 100);
}

// The older numbers count the major in thousands.
std::string dotted_from(std::size_t first_of_ten_thousands, std::size_t number) {
    return dotted(number, number >= first_of_ten_thousands ? 10000 : 1000);
}

std::string of_value(float value) {
    const double rounded = std::nearbyint(static_cast<double>(value));
    if (std::abs(rounded) < 1e9 && rounded == static_cast<double>(value)) {
        return std::to_string(static_cast<long>(rounded));
    }
    return std::to_string(value);
}

} // namespace

std::string cudnn_version(std::size_t number) {
    return dotted_from(90000, number);
}

std::string cublas_version(int number) {
    return dotted_from(100000, static_cast<std::size_t>(std::max(number, 0)));
}

std::string nccl_version(int number) {
    return dotted_from(10000, static_cast<std::size_t>(std::max(number, 0)));
}

std::string ptx_isa(std::string_view ptx) {
    constexpr std::string_view k_directive = ".version ";
    std::size_t line = 0;
    while (line < ptx.size()) {
        if (ptx.substr(line).starts_with(k_directive)) {
            const std::string_view rest = ptx.substr(line + k_directive.size());
            return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
        }
        const std::size_t newline = ptx.find('\n', line);
        line = newline == std::string_view::npos ? ptx.size() : newline + 1;
    }
    return {};
}

std::string architecture_name(std::string_view prefix, ComputeCapability capability) {
    return std::string(prefix) + std::to_string(capability.major) +
           std::to_string(capability.minor);
}

std::optional<int> highest_architecture_for(ComputeCapability capability,
                                            std::span<const int> supported) {
    const int own = capability.major * 10 + capability.minor;
    std::optional<int> highest;
    for (const int architecture : supported) {
        if (architecture <= own && (!highest || architecture > *highest)) {
            highest = architecture;
        }
    }
    return highest;
}

std::span<const int> architectures_of_old_nvrtc() {
    static constexpr std::array k_architectures = {86, 80, 75, 72, 70, 62, 61, 60,
                                                   53, 52, 50, 37, 35, 32, 30};
    return k_architectures;
}

std::vector<float> small_integers(std::size_t count, unsigned seed) {
    std::vector<float> values(count);
    unsigned state = seed;
    for (float& value : values) {
        state = state * 1664525U + 1013904223U; // a full period modulo 2^32; its high bits are used
        value = static_cast<float>(static_cast<int>((state >> 16U) % 7U) - 3);
    }
    return values;
}

std::uint16_t half_of_integer(int value) {
    if (value == 0) {
        return 0;
    }
    const unsigned sign = value < 0 ? 0x8000U : 0U;
    const unsigned size = static_cast<unsigned>(std::abs(value));
    unsigned exponent = 0;
    while ((size >> (exponent + 1U)) != 0) {
        ++exponent;
    }
    // 10 bits behind the leading one, which is not stored.
    const unsigned fraction =
        exponent <= 10 ? (size << (10U - exponent)) & 0x3FFU : (size >> (exponent - 10U)) & 0x3FFU;
    return static_cast<std::uint16_t>(sign | ((exponent + 15U) << 10U) | fraction);
}

std::vector<float> product(std::span<const float> a, std::span<const float> b, std::size_t n) {
    std::vector<float> c(n * n, 0.0F);
    for (std::size_t column = 0; column < n; ++column) {
        for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t row = 0; row < n; ++row) {
                c[row + column * n] += a[row + k * n] * b[k + column * n];
            }
        }
    }
    return c;
}

std::vector<float> cross_correlation(std::span<const float> image, std::size_t side,
                                     std::span<const float> filter, std::size_t filter_side) {
    const std::size_t margin = filter_side / 2;
    std::vector<float> result(side * side, 0.0F);
    for (std::size_t row = 0; row < side; ++row) {
        for (std::size_t column = 0; column < side; ++column) {
            float sum = 0.0F;
            for (std::size_t down = 0; down < filter_side; ++down) {
                for (std::size_t along = 0; along < filter_side; ++along) {
                    // Both shifted by the margin, so that no number is negative.
                    const std::size_t at_row = row + down;
                    const std::size_t at_column = column + along;
                    const bool inside = at_row >= margin && at_row - margin < side &&
                                        at_column >= margin && at_column - margin < side;
                    if (inside) {
                        sum += image[(at_row - margin) * side + (at_column - margin)] *
                               filter[down * filter_side + along];
                    }
                }
            }
            result[row * side + column] = sum;
        }
    }
    return result;
}

std::optional<std::string> first_difference(std::span<const float> got,
                                            std::span<const float> right, double tolerance) {
    for (std::size_t index = 0; index < right.size(); ++index) {
        const double seen = index < got.size() ? static_cast<double>(got[index]) : NAN;
        const double wanted = static_cast<double>(right[index]);
        // Written so that NaN differs.
        if (!(std::abs(seen - wanted) <= tolerance * std::max(1.0, std::abs(wanted)))) {
            return "element " + std::to_string(index) + " is " +
                   (index < got.size() ? of_value(got[index]) : "missing") + ", and should be " +
                   of_value(right[index]);
        }
    }
    return std::nullopt;
}

} // namespace cudaenv::kernels
