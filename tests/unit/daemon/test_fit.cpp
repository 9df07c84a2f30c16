#include "daemon/toolkit_fit.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::daemon;

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

std::string told(const Fit& fit) {
    return std::string(name_of(fit.state)) + ": " + fit.text;
}

} // namespace

TEST_CASE("a toolkit fits a driver that gives its CUDA and a GPU that it has machine code for") {
    CHECK(told(fit_of(toolkit("11.3.109"), host("470.199.02", "11.4", {{8, 6}}))) ==
          "ok: fits the driver");
}

TEST_CASE("below the family's floor a toolkit names the driver that it needs") {
    CHECK(told(fit_of(toolkit("13.0.88"), host("470.199.02", "11.4", {{8, 6}}))) ==
          "fails: needs driver 580.65.06");
    CHECK(fit_of(toolkit("12.1"), host("", "11.4", {})).state == FitState::Breaks);
}

TEST_CASE("above the floor and below the toolkit's own CUDA only machine code runs") {
    CHECK(told(fit_of(toolkit("11.8.89"), host("470.199.02", "11.4", {{8, 6}}))) ==
          "warns: machine code only: no PTX beyond CUDA 11.4");
}

TEST_CASE("a GPU newer than the toolkit runs its PTX where the driver takes it") {
    CHECK(told(fit_of(toolkit("10.0.130"), host("470.199.02", "11.4", {{8, 6}}))) ==
          "warns: no machine code for sm_86 (PTX only)");
}

TEST_CASE("a GPU that the toolkit left behind has no code, some of several is a warning") {
    CHECK(told(fit_of(toolkit("13.0.88"), host("580.95.05", "13.0", {{6, 1}}))) ==
          "fails: no code for sm_61");
    CHECK(told(fit_of(toolkit("13.0.88"), host("580.95.05", "13.0", {{6, 1}, {8, 6}}))) ==
          "warns: no code for sm_61");
}

TEST_CASE("without a driver nothing is claimed, and a problem is told first") {
    facts::Host bare;
    CHECK(fit_of(toolkit("11.3"), bare).state == FitState::Unknown);
    facts::Toolkit broken = toolkit("11.3");
    broken.problem = "permission denied";
    CHECK(told(fit_of(broken, bare)) == "fails: permission denied");
}

TEST_CASE("the compilers accepted are those within the range that the toolkit names") {
    facts::Host machine;
    for (const char* version : {"5.5.0", "7.5.0", "9.4.0"}) {
        machine.compilers.push_back(
            {facts::CompilerFamily::Gcc, DottedVersion::of(version), version, "test"});
    }
    facts::Toolkit cuda = toolkit("10.0");
    CHECK(accepted_compilers(cuda, machine).empty()); // range unknown: none is claimed
    cuda.gcc_max = 7;
    CHECK(accepted_compilers(cuda, machine).size() == 2);
    cuda.gcc_min = 6;
    REQUIRE(accepted_compilers(cuda, machine).size() == 1);
    CHECK(accepted_compilers(cuda, machine)[0].path == "7.5.0");
}

TEST_CASE("what the driver itself told goes before its branch, both ways") {
    auto compat = host("470.199.02", "12.9", {{8, 0}});
    CHECK(told(fit_of(toolkit("12.4.131"), compat)) == "fails: needs driver 525.60.13");
    compat.driver->measured = true;
    CHECK(told(fit_of(toolkit("12.4.131"), compat)) == "ok: fits the driver");
    auto less = host("580.95.05", "11.8", {{8, 0}});
    less.driver->measured = true;
    CHECK(told(fit_of(toolkit("12.4.131"), less)) == "fails: needs driver 525.60.13");
}
