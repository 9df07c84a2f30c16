#include "solver/knowledge/toolkits.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::knowledge;

namespace {

facts::Toolkit toolkit(std::string_view version) {
    facts::Toolkit made;
    made.path = "/usr/local/cuda";
    made.version = DottedVersion::of(version);
    made.nvcc = true;
    return made;
}

facts::Host host(std::string_view driver, std::string_view cuda,
                 std::initializer_list<ComputeCapability> gpus) {
    facts::Host made;
    made.driver.emplace();
    if (!driver.empty()) {
        made.driver->version = DottedVersion::of(driver);
    }
    if (!cuda.empty()) {
        made.driver->cuda = DottedVersion::of(cuda);
    }
    for (const ComputeCapability capability : gpus) {
        facts::Gpu gpu;
        gpu.compute_capability = capability;
        made.gpus.push_back(gpu);
    }
    return made;
}

std::string shown(const CudaFit& fit) {
    return std::string(name_of(fit.verdict)) + ": " + fit.text;
}

} // namespace

TEST_CASE("a toolkit fits a driver that gives its CUDA and a GPU that it has machine code for") {
    CHECK(shown(toolkit_fit(toolkit("11.3.109"), host("470.199.02", "11.4", {{8, 6}}))) ==
          "ok: fits the driver");
}

TEST_CASE("below the family's floor a toolkit names the driver that it needs") {
    CHECK(shown(toolkit_fit(toolkit("13.0.88"), host("470.199.02", "11.4", {{8, 6}}))) ==
          "fails: needs driver 580.65.06");
    CHECK(toolkit_fit(toolkit("12.1"), host("", "11.4", {})).verdict == Verdict::Fails);
}

TEST_CASE("above the floor and below the toolkit's own CUDA only machine code runs") {
    CHECK(
        shown(toolkit_fit(toolkit("11.8.89"), host("470.199.02", "11.4", {{8, 6}}))) ==
        "warns: machine code only: driver 470.199.02 gives CUDA 11.4, which cannot compile PTX of "
        "CUDA 11.8");
}

TEST_CASE("a GPU newer than the toolkit's libraries fails and names the first CUDA for it") {
    CHECK(shown(toolkit_fit(toolkit("10.0.130"), host("470.199.02", "11.4", {{8, 6}}))) ==
          "fails: CUDA 10.0 does not support sm_86; CUDA 11.0 is the first");
}

TEST_CASE("a GPU that the toolkit no longer supports fails, one of several is a warning") {
    CHECK(shown(toolkit_fit(toolkit("13.0.88"), host("580.95.05", "13.0", {{6, 1}}))) ==
          "fails: CUDA 13.0 no longer supports sm_61");
    CHECK(shown(toolkit_fit(toolkit("13.0.88"), host("580.95.05", "13.0", {{6, 1}, {8, 6}}))) ==
          "warns: CUDA 13.0 no longer supports sm_61");
}

TEST_CASE("what is unknown is never a tick") {
    auto unnamed = host("580.95.05", "13.0", {{8, 6}});
    unnamed.gpus[0].compute_capability.reset();
    CHECK(toolkit_fit(toolkit("13.0.88"), unnamed).verdict == Verdict::Unknown);
    CHECK(cuda_fit(DottedVersion::of("13"), host("580.95.05", "13.0", {{8, 6}})).verdict ==
          Verdict::Unknown);
}

TEST_CASE("an nvcc of the same major builds from CUDA 11 on") {
    const auto match = [](const char* nvcc, const char* cuda) {
        return nvcc_match(DottedVersion::of(nvcc), DottedVersion::of(cuda));
    };
    CHECK(match("12.4.131", "12.4") == NvccMatch::Same);
    CHECK(match("12.4.131", "12.6") == NvccMatch::SameMajor);
    CHECK(match("12.4.131", "12") == NvccMatch::Same);
    CHECK(match("10.0.130", "10.2") == NvccMatch::None);
    CHECK(match("12.4.131", "11.8") == NvccMatch::None);
}

TEST_CASE("the toolkit that builds for a CUDA is the nearest: the same, below, above") {
    facts::Host machine;
    for (const char* version : {"10.0.130", "12.2.140", "12.8.93"}) {
        facts::Toolkit here = toolkit(version);
        here.nvcc = true;
        machine.toolkits.push_back(here);
    }
    const auto chosen = [&](const char* cuda) {
        const auto* const found = toolkit_to_build(machine, DottedVersion::of(cuda));
        return found == nullptr ? std::string() : found->version->str();
    };
    CHECK(chosen("12.2") == "12.2.140");
    CHECK(chosen("12.6") == "12.2.140");
    CHECK(chosen("12.1") == "12.2.140");
    CHECK(chosen("10.2").empty());
    CHECK(chosen("13.0").empty());
}

TEST_CASE("without a driver nothing is claimed, and a toolkit's problem comes first") {
    facts::Host bare;
    CHECK(toolkit_fit(toolkit("11.3"), bare).verdict == Verdict::Unknown);
    facts::Toolkit broken = toolkit("11.3");
    broken.problem = "permission denied";
    CHECK(shown(toolkit_fit(broken, bare)) == "fails: permission denied");
}

TEST_CASE("what the driver itself reports outranks its branch, both ways") {
    auto compat = host("470.199.02", "12.9", {{8, 0}});
    compat.driver->derived = true;
    CHECK(shown(toolkit_fit(toolkit("12.4.131"), compat)) == "fails: needs driver 525.60.13");
    compat.driver->measured = true;
    CHECK(shown(toolkit_fit(toolkit("12.4.131"), compat)) == "ok: fits the driver");
    auto less = host("580.95.05", "11.8", {{8, 0}});
    less.driver->measured = true;
    CHECK(shown(toolkit_fit(toolkit("12.4.131"), less)) == "fails: needs driver 525.60.13");
}
