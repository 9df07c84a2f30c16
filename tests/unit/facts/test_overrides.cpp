#include "solver/facts/overrides.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::facts {
namespace {

std::optional<DottedVersion> branch_470_gives_11_4(const DottedVersion& driver) {
    return driver.major() == 470 ? std::optional(DottedVersion::of("11.4")) : std::nullopt;
}

TEST_CASE("a driver given on the command line replaces the host's, its CUDA derived") {
    Host host;
    host.driver_absent = "no nvidia kernel module";
    const auto overridden = with_overrides(host, "470.199.02", {}, branch_470_gives_11_4);
    REQUIRE(overridden);
    REQUIRE(overridden->driver);
    CHECK(overridden->driver->version->str() == "470.199.02");
    CHECK(overridden->driver->cuda->str() == "11.4");
    CHECK(overridden->driver->derived);
    CHECK(overridden->driver->source == "--driver");
    CHECK(overridden->driver_absent.empty());
}

TEST_CASE("a driver given for a host without GPUs means a machine whose GPUs are unknown") {
    Host host;
    host.gpus_absent = "none of the 6 devices on the PCI bus is an NVIDIA GPU";
    CHECK(with_overrides(host, "470.199.02", {}, branch_470_gives_11_4)->gpus_absent.empty());
    CHECK(with_overrides(host, "none", {}, branch_470_gives_11_4)->gpus_absent == host.gpus_absent);
}

TEST_CASE("a driver that the table does not know has an unknown CUDA, not none") {
    const auto overridden = with_overrides({}, "999.1", {}, branch_470_gives_11_4);
    REQUIRE(overridden);
    REQUIRE(overridden->driver);
    CHECK_FALSE(overridden->driver->cuda);
}

TEST_CASE("no override leaves the host as it is") {
    Host host;
    host.driver = Driver{};
    host.driver->source = "NVML";
    host.gpus.resize(2);
    const auto overridden = with_overrides(host, std::nullopt, {}, branch_470_gives_11_4);
    REQUIRE(overridden);
    CHECK(overridden->driver->source == "NVML");
    CHECK(overridden->gpus.size() == 2);
}

TEST_CASE("each GPU given replaces the host's GPUs, in order and in either spelling") {
    Host host;
    host.gpus.resize(1);
    const auto overridden =
        with_overrides(host, std::nullopt, {"8.6", "sm_120"}, branch_470_gives_11_4);
    REQUIRE(overridden);
    REQUIRE(overridden->gpus.size() == 2);
    CHECK(overridden->gpus[0].compute_capability == ComputeCapability{8, 6});
    CHECK(overridden->gpus[1].compute_capability == ComputeCapability{12, 0});
    CHECK(overridden->gpus[1].index == 1);
}

TEST_CASE("none means a host without a driver or without a GPU, and says who said so") {
    Host host;
    host.driver = Driver{};
    host.gpus.resize(1);
    const auto overridden = with_overrides(host, "none", {"none"}, branch_470_gives_11_4);
    REQUIRE(overridden);
    CHECK_FALSE(overridden->driver);
    CHECK(overridden->driver_absent == "--driver none");
    CHECK(overridden->gpus.empty());
    CHECK(overridden->gpus_absent == "--gpu none");
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
