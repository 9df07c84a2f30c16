#include "solver/facts/overrides.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::facts {
namespace {

std::optional<DottedVersion> branch_470_gives_11_4(const DottedVersion& driver) {
    return driver.major() == 470 ? std::optional(DottedVersion::of("11.4")) : std::nullopt;
}

TEST_CASE("a driver told on the command line replaces the host's, its CUDA derived") {
    Host host;
    host.driver_absent = "no nvidia kernel module";
    const auto told = with_overrides(host, "470.199.02", {}, branch_470_gives_11_4);
    REQUIRE(told);
    REQUIRE(told->driver);
    CHECK(told->driver->version->str() == "470.199.02");
    CHECK(told->driver->cuda->str() == "11.4");
    CHECK(told->driver->derived);
    CHECK(told->driver->source == "--driver");
    CHECK(told->driver_absent.empty());
}

TEST_CASE("a driver told for a host without GPUs means a machine whose GPUs are unknown") {
    Host host;
    host.gpus_absent = "none of the 6 devices on the PCI bus is an NVIDIA GPU";
    CHECK(with_overrides(host, "470.199.02", {}, branch_470_gives_11_4)->gpus_absent.empty());
    CHECK(with_overrides(host, "none", {}, branch_470_gives_11_4)->gpus_absent == host.gpus_absent);
}

TEST_CASE("a driver that the table does not know has an unknown CUDA, not none") {
    const auto told = with_overrides({}, "999.1", {}, branch_470_gives_11_4);
    REQUIRE(told);
    REQUIRE(told->driver);
    CHECK_FALSE(told->driver->cuda);
}

TEST_CASE("no override leaves the host as it is") {
    Host host;
    host.driver = Driver{};
    host.driver->source = "NVML";
    host.gpus.resize(2);
    const auto told = with_overrides(host, std::nullopt, {}, branch_470_gives_11_4);
    REQUIRE(told);
    CHECK(told->driver->source == "NVML");
    CHECK(told->gpus.size() == 2);
}

TEST_CASE("each GPU told replaces the host's GPUs, in order and in either spelling") {
    Host host;
    host.gpus.resize(1);
    const auto told = with_overrides(host, std::nullopt, {"8.6", "sm_120"}, branch_470_gives_11_4);
    REQUIRE(told);
    REQUIRE(told->gpus.size() == 2);
    CHECK(told->gpus[0].compute_capability == ComputeCapability{8, 6});
    CHECK(told->gpus[1].compute_capability == ComputeCapability{12, 0});
    CHECK(told->gpus[1].index == 1);
}

TEST_CASE("none means a host without a driver or without a GPU, and says who said so") {
    Host host;
    host.driver = Driver{};
    host.gpus.resize(1);
    const auto told = with_overrides(host, "none", {"none"}, branch_470_gives_11_4);
    REQUIRE(told);
    CHECK_FALSE(told->driver);
    CHECK(told->driver_absent == "--driver none");
    CHECK(told->gpus.empty());
    CHECK(told->gpus_absent == "--gpu none");
}

TEST_CASE("an override that is no version names its option") {
    const auto driver = with_overrides({}, "newest", {}, branch_470_gives_11_4);
    REQUIRE_FALSE(driver);
    CHECK(driver.error().path == "--driver");
    CHECK(driver.error().code == "bad-version");
    for (const auto* text : {"86", "sm_", "sm_x", "8.66", "ampere", ""}) {
        const auto gpu = with_overrides({}, std::nullopt, {text}, branch_470_gives_11_4);
        INFO(text);
        REQUIRE_FALSE(gpu);
        CHECK(gpu.error().path == "--gpu");
        CHECK_FALSE(gpu.error().hint.empty());
    }
}

} // namespace
} // namespace cudaenv::facts
