#include "kernels/checks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <numeric>

namespace cudaenv::kernels {

namespace {

using Words = std::vector<std::uint32_t>;

std::uint32_t step(std::uint32_t word) {
    return word * 1664525U + 1013904223U;
}

// Words without a pattern that a copy gone astray could keep.
Words scattered(std::size_t count) {
    Words words(count);
    std::uint32_t state = 2463534242U;
    for (auto& word : words) {
        // Marsaglia's xorshift, "Xorshift RNGs" (2003).
        state ^= state << 13U;
        state ^= state >> 17U;
        state ^= state << 5U;
        word = state;
    }
    return words;
}

KernelCheck global_check() {
    KernelCheck check{"global", "cudaenv_global", 64, 1, 256, scattered(k_largest_check), {}};
    check.expected = check.input;
    std::ranges::transform(check.expected, check.expected.begin(), step);
    return check;
}

KernelCheck shared_check() {
    constexpr std::size_t k_words_of_block = 1024;
    KernelCheck check{"shared",
                      "cudaenv_shared",
                      k_largest_check / k_words_of_block,
                      1,
                      256,
                      scattered(k_largest_check),
                      {}};
    for (auto word = check.input.begin(); word != check.input.end(); word += k_words_of_block) {
        check.expected.push_back(std::accumulate(word, word + k_words_of_block, 0U));
    }
    return check;
}

KernelCheck atomics_check() {
    constexpr std::size_t k_bins = 64;
    KernelCheck check{"atomics", "cudaenv_atomics", 64, 1, 256, scattered(k_largest_check), {}};
    check.expected.assign(k_bins + 1, 0);
    for (const auto word : check.input) {
        ++check.expected[word % k_bins];
    }
    check.expected[k_bins] = *std::ranges::max_element(check.input);
    return check;
}

KernelCheck shuffle_check() {
    constexpr std::size_t k_words = 8192;
    constexpr std::size_t k_warp = 32;
    KernelCheck check{"shuffle", "cudaenv_shuffle", k_words / 256, 1, 256, scattered(k_words), {}};
    check.expected.resize(k_words);
    for (std::size_t first = 0; first < k_words; first += k_warp) {
        const auto warp = check.input.begin() + static_cast<std::ptrdiff_t>(first);
        std::partial_sum(warp, warp + k_warp,
                         check.expected.begin() + static_cast<std::ptrdiff_t>(first));
    }
    return check;
}

// How a matrix element lies in memory.
enum class Element { Half, Bfloat16, Float };

// `value` is 0 or of a magnitude between 1/4 and 2, in quarters: exact in each of them.
std::uint32_t bits_of(float value, Element element) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (element == Element::Float || value == 0) {
        return element == Element::Float ? bits : 0;
    }
    if (element == Element::Bfloat16) {
        return bits >> 16U;
    }
    // binary16: the exponent's bias is 15 and not 127, the fraction has 10 bits and not 23.
    return (bits >> 31U << 15U) | (((bits >> 13U) & 0x3FFFFU) - ((127U - 15U) << 10U));
}

Words packed(const std::vector<float>& numbers, Element element) {
    Words words;
    const std::size_t in_word = element == Element::Float ? 1 : 2;
    for (std::size_t i = 0; i < numbers.size(); i += in_word) {
        auto word = bits_of(numbers[i], element);
        if (in_word == 2) {
            word |= bits_of(numbers[i + 1], element) << 16U; // GPUs are little-endian
        }
        words.push_back(word);
    }
    return words;
}

KernelCheck tensor_check(const char* name, const char* function, Element element) {
    constexpr std::size_t k_size = 64;
    constexpr std::size_t k_tile = 16;
    std::vector<float> numbers; // A, then B
    for (const auto word : scattered(2 * k_size * k_size)) {
        numbers.push_back(static_cast<float>(static_cast<int>(word % 17) - 8) / 4);
    }
    KernelCheck check{
        name, function, k_size / k_tile, k_size / k_tile, 32, packed(numbers, element), {}, true};
    const float* a = numbers.data();
    const float* b = a + k_size * k_size;
    for (std::size_t row = 0; row < k_size; ++row) {
        for (std::size_t column = 0; column < k_size; ++column) {
            // Exact: multiples of 1/16 below 2^8.
            float sum = 0;
            for (std::size_t k = 0; k < k_size; ++k) {
                sum += a[row * k_size + k] * b[k * k_size + column];
            }
            check.expected.push_back(std::bit_cast<std::uint32_t>(sum));
        }
    }
    return check;
}

} // namespace

std::vector<KernelCheck> kernel_checks(ComputeCapability code) {
    std::vector<KernelCheck> checks = {global_check(), shared_check(), atomics_check(),
                                       shuffle_check()};
    // As kernels/device/tensor.cuh has them.
    if (code >= ComputeCapability{7, 0}) {
        checks.push_back(tensor_check("tensor-fp16", "cudaenv_tensor_fp16", Element::Half));
    }
    if (code >= ComputeCapability{8, 0}) {
        checks.push_back(tensor_check("tensor-bf16", "cudaenv_tensor_bf16", Element::Bfloat16));
        checks.push_back(tensor_check("tensor-tf32", "cudaenv_tensor_tf32", Element::Float));
    }
    return checks;
}

std::vector<KernelCheck> ptx_checks() {
    return {global_check(), shared_check()};
}

std::string difference(const KernelCheck& check, const std::vector<std::uint32_t>& output) {
    for (std::size_t i = 0; i < check.expected.size(); ++i) {
        const auto is = i < output.size() ? output[i] : 0;
        const auto should = check.expected[i];
        constexpr std::uint32_t k_magnitude = 0x7FFFFFFF;
        const bool both_zero =
            check.floats && ((is & k_magnitude) == 0) && ((should & k_magnitude) == 0);
        if (is != should && !both_zero) {
            std::array<char, 96> words{};
            std::snprintf(words.data(), words.size(),
                          ": word %zu of the result is 0x%08x, the CPU computes 0x%08x", i, is,
                          should);
            return check.name + words.data();
        }
    }
    return {};
}

} // namespace cudaenv::kernels
