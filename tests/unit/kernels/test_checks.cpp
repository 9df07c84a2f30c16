#include "kernels/checks.hpp"
#include "kernels/code_on_gpu.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace cudaenv;
using namespace cudaenv::kernels;

namespace {

std::vector<std::string> names(const std::vector<KernelCheck>& checks) {
    std::vector<std::string> all;
    std::transform(checks.begin(), checks.end(), std::back_inserter(all),
                   [](const KernelCheck& check) { return check.name; });
    return all;
}

const KernelCheck& named(const std::vector<KernelCheck>& checks, const std::string& name) {
    return *std::find_if(checks.begin(), checks.end(),
                         [&](const KernelCheck& check) { return check.name == name; });
}

} // namespace

TEST_CASE("tensor cores are asked for what the architecture has") {
    const std::vector<std::string> pascal = {"global", "shared", "atomics", "shuffle"};
    auto turing = pascal;
    turing.emplace_back("tensor-fp16");
    auto ampere = turing;
    ampere.emplace_back("tensor-bf16");
    ampere.emplace_back("tensor-tf32");
    CHECK(names(kernel_checks({6, 0})) == pascal);
    CHECK(names(kernel_checks({7, 5})) == turing);
    CHECK(names(kernel_checks({8, 0})) == ampere);
    CHECK(names(kernel_checks({12, 1})) == ampere);
    CHECK(names(ptx_checks()) == std::vector<std::string>{"global", "shared"});
}

TEST_CASE("every check fits the memory that is allocated for it, and its grid covers its words") {
    for (const auto& check : kernel_checks({9, 0})) {
        CAPTURE(check.name);
        CHECK(check.input.size() <= k_largest_check);
        CHECK(check.expected.size() <= k_largest_check);
        CHECK_FALSE(check.expected.empty());
        CHECK(check.block % 32 == 0);
        // Zero is what the memory held before: a kernel that never ran must not look right.
        CHECK(difference(check, std::vector<std::uint32_t>(check.expected.size())) != "");
    }
}

TEST_CASE("matrix elements lie as their format has them") {
    const auto checks = kernel_checks({9, 0});
    const auto& fp16 = named(checks, "tensor-fp16");
    const auto& bf16 = named(checks, "tensor-bf16");
    const auto& tf32 = named(checks, "tensor-tf32");
    CHECK(fp16.input.size() == bf16.input.size());
    CHECK(tf32.input.size() == 2 * fp16.input.size());
    // The same numbers, so the same product.
    CHECK(fp16.expected == tf32.expected);
    CHECK(bf16.expected == tf32.expected);
    const auto both = [&](std::uint32_t binary32, std::uint32_t binary16, std::uint32_t bfloat16) {
        const auto at = std::find(tf32.input.begin(), tf32.input.end(), binary32);
        REQUIRE(at != tf32.input.end());
        const auto i = static_cast<std::size_t>(at - tf32.input.begin());
        const auto shift = i % 2 * 16;
        CHECK((fp16.input[i / 2] >> shift & 0xFFFFU) == binary16);
        CHECK((bf16.input[i / 2] >> shift & 0xFFFFU) == bfloat16);
    };
    both(0x00000000, 0x0000, 0x0000); // 0
    both(0x3F800000, 0x3C00, 0x3F80); // 1
    both(0xC0000000, 0xC000, 0xC000); // -2
    both(0x3E800000, 0x3400, 0x3E80); // 0.25
    both(0xBFE00000, 0xBF00, 0xBFE0); // -1.75
}

TEST_CASE("a result that differs is reported with the check, the place and both words") {
    auto check = ptx_checks().front();
    auto output = check.expected;
    CHECK(difference(check, output).empty());
    check.expected[7] = 0x12345678;
    output[7] = 0xFEDCBA98;
    CHECK(difference(check, output) ==
          "global: word 7 of the result is 0xfedcba98, the CPU computes 0x12345678");
    output.resize(7);
    CHECK(difference(check, output) ==
          "global: word 7 of the result is 0x00000000, the CPU computes 0x12345678");
}

TEST_CASE("a negative zero is a zero among floats only") {
    KernelCheck check;
    check.name = "tensor";
    check.expected = {0};
    CHECK_FALSE(difference(check, {0x80000000}).empty());
    check.floats = true;
    CHECK(difference(check, {0x80000000}).empty());
}

TEST_CASE("machine code runs on its own GPU and on newer ones of its major") {
    const std::vector<ComputeCapability> built = {{7, 5}, {8, 0}, {8, 6}, {9, 0}, {12, 0}};
    CHECK(machine_code_for(built, {8, 6}) == ComputeCapability{8, 6});
    CHECK(machine_code_for(built, {8, 9}) == ComputeCapability{8, 6});
    CHECK(machine_code_for(built, {12, 1}) == ComputeCapability{12, 0});
    CHECK_FALSE(machine_code_for(built, {7, 0}));
    CHECK_FALSE(machine_code_for(built, {10, 0}));
    CHECK_FALSE(machine_code_for({}, {9, 0}));
}

TEST_CASE("what was built in is whole or not there") {
    const auto& image = device_image();
    CHECK((image.fatbin == nullptr) == image.machine_code.empty());
    if (image.fatbin == nullptr) {
        SKIP("built without nvcc; a CUDA toolkit in PATH when the build is configured");
    }
    CHECK(std::is_sorted(image.machine_code.begin(), image.machine_code.end()));
    CHECK(image.ptx == image.machine_code.front());
    CHECK(image.cuda.major() >= 11);
    // The first word of a fatbin, as CUDA's fatbinary.h has had it since 4.0.
    CHECK(*static_cast<const std::uint32_t*>(image.fatbin) == 0xBA55ED50U);
}
