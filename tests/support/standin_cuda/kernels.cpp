#include "kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace standin {

namespace {

// Most kernels of the probe's take words in, words out and the number of words in.
struct Arguments {
    const std::uint32_t* in = nullptr;
    std::uint32_t* out = nullptr;
    unsigned count = 0;     // 0 where the kernel takes none
    void** given = nullptr; // all of them
    unsigned blocks = 0;
    unsigned threads = 0;
};

// Each returns how many words it wrote.
using Computation = std::function<std::size_t(const Arguments&)>;

std::size_t global(const Arguments& of) {
    for (std::size_t i = 0; i < of.count; ++i) {
        of.out[i] = of.in[i] * 1664525U + 1013904223U;
    }
    return of.count;
}

std::size_t shared(const Arguments& of) {
    for (std::size_t block = 0; block < of.blocks; ++block) {
        std::uint32_t sum = 0;
        for (std::size_t i = block * 1024; i < std::min<std::size_t>((block + 1) * 1024, of.count);
             ++i) {
            sum += of.in[i];
        }
        of.out[block] = sum;
    }
    return of.blocks;
}

// Adds to what is there, as the kernel does.
std::size_t atomics(const Arguments& of) {
    for (std::size_t i = 0; i < of.count; ++i) {
        ++of.out[of.in[i] % 64];
        of.out[64] = std::max(of.out[64], of.in[i]);
    }
    return 65;
}

std::size_t shuffle(const Arguments& of) {
    const auto last = std::min<std::size_t>(of.count, std::size_t{of.blocks} * of.threads);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < last; ++i) {
        sum = i % 32 == 0 ? of.in[i] : sum + of.in[i];
        of.out[i] = sum;
    }
    return last;
}

// Normal numbers and zero, which is all that the probe has.
float from_binary16(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    const float size = exponent == 0
                           ? std::ldexp(static_cast<float>(fraction), -24)
                           : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    return (bits & 0x8000U) != 0 ? -size : size;
}
float from_bfloat16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

constexpr std::size_t k_size = 64;

std::size_t product(const std::vector<float>& numbers, std::uint32_t* out) {
    const std::span<const float> a(numbers.data(), k_size * k_size);
    const std::span<const float> b(numbers.data() + k_size * k_size, k_size * k_size);
    for (std::size_t row = 0; row < k_size; ++row) {
        for (std::size_t column = 0; column < k_size; ++column) {
            float sum = 0;
            for (std::size_t k = 0; k < k_size; ++k) {
                sum += a[row * k_size + k] * b[k * k_size + column];
            }
            out[row * k_size + column] = std::bit_cast<std::uint32_t>(sum);
        }
    }
    return k_size * k_size;
}

template <float (*value)(std::uint16_t)>
std::size_t short_product(const Arguments& of) {
    const auto* bits = reinterpret_cast<const std::uint16_t*>(of.in);
    std::vector<float> numbers(2 * k_size * k_size);
    std::transform(bits, bits + numbers.size(), numbers.begin(), value);
    return product(numbers, of.out);
}

std::size_t tf32_product(const Arguments& of) {
    std::vector<float> numbers(2 * k_size * k_size);
    std::transform(of.in, of.in + numbers.size(), numbers.begin(),
                   [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
    return product(numbers, of.out);
}

// What the probe has NVRTC compile: (in, out), whole blocks.
std::size_t nvrtc(const Arguments& of) {
    const std::size_t count = std::size_t{of.blocks} * of.threads;
    const auto in = [&of](std::size_t i) { return std::bit_cast<float>(of.in[i]); };
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t block = i / of.threads * of.threads;
        const float value = 3.0F * in(i) + in(block + (i - block + 1) % of.threads);
        of.out[i] = std::bit_cast<std::uint32_t>(value);
    }
    return count;
}

// What `cudaenv probe --build` has nvcc compile (host/probe/trial): (in, out, count, by).
std::size_t scale(const Arguments& of) {
    const float by = *static_cast<const float*>(of.given[3]);
    for (std::size_t i = 0; i < of.count; ++i) {
        of.out[i] = std::bit_cast<std::uint32_t>(std::bit_cast<float>(of.in[i]) * by + 1.0F);
    }
    return of.count;
}
// And torch: (values, count).
std::size_t add_one(const Arguments& of) {
    for (std::size_t i = 0; i < of.count; ++i) {
        of.out[i] = std::bit_cast<std::uint32_t>(std::bit_cast<float>(of.in[i]) + 1.0F);
    }
    return of.count;
}

enum class Takes { InOutCount, InOut, ValuesCount };
struct Kernel {
    Computation compute;
    Takes takes = Takes::InOutCount;
};

const std::map<std::string_view, Kernel, std::less<>>& kernels() {
    static const std::map<std::string_view, Kernel, std::less<>> table = {
        {"cudaenv_global", {global}},
        {"cudaenv_shared", {shared}},
        {"cudaenv_atomics", {atomics}},
        {"cudaenv_shuffle", {shuffle}},
        {"cudaenv_tensor_fp16", {short_product<from_binary16>}},
        {"cudaenv_tensor_bf16", {short_product<from_bfloat16>}},
        {"cudaenv_tensor_tf32", {tf32_product}},
        {"cudaenv_nvrtc", {nvrtc, Takes::InOut}},
        {"_Z5scalePKfPfif", {scale}},
        {"_Z7add_onePfi", {add_one, Takes::ValuesCount}}};
    return table;
}

} // namespace

bool knows_kernel(std::string_view name) {
    return kernels().contains(name);
}

void run_kernel(std::string_view name, const Launch& launch) {
    const auto& kernel = kernels().find(name)->second;
    void** given = launch.parameters;
    const std::size_t out = kernel.takes == Takes::ValuesCount ? 0 : 1;
    const Arguments of{
        .in = *static_cast<const std::uint32_t* const*>(given[0]),
        .out = *static_cast<std::uint32_t* const*>(given[out]),
        .count = kernel.takes == Takes::InOut ? 0 : *static_cast<const unsigned*>(given[out + 1]),
        .given = given,
        .blocks = launch.grid[0],
        .threads = launch.block[0]};
    const auto written = kernel.compute(of);
    if (launch.wrong && written > 0) {
        of.out[written / 2] ^= 1U;
    }
}

} // namespace standin
