#include "solver/facts/measured.hpp"
#include "solver/facts/overrides.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::facts {
namespace {

Host machine(const char* driver, const char* cuda) {
    Host host;
    host.driver = Driver{};
    host.driver->version = DottedVersion::of(driver);
    host.driver->cuda = DottedVersion::of(cuda);
    host.driver->derived = true;
    host.driver->source = "/sys/module/nvidia/version, CUDA from the branch table";
    return host;
}

Gpu gpu(int index, const char* name, const char* uuid,
        std::optional<ComputeCapability> capability) {
    Gpu made;
    made.index = index;
    made.name = name;
    made.uuid = uuid;
    made.compute_capability = capability;
    made.source = "the PCI list";
    return made;
}

Measured gives(const char* cuda) {
    Measured measured;
    measured.verdict = "ok";
    measured.driver_cuda = DottedVersion::of(cuda);
    return measured;
}

TEST_CASE("what the driver itself said has priority over its branch, and both are reported") {
    const Host host = with_measured(machine("550.54.15", "12.4"), gives("12.9"));
    CHECK(host.driver->cuda->str() == "12.9");
    CHECK(host.driver->version->str() == "550.54.15");
    CHECK(host.driver->measured);
    CHECK_FALSE(host.driver->derived);
    CHECK(host.driver->source == "measured by cudaenv probe");
    CHECK(host.sources.at("driver version") == "/sys/module/nvidia/version");
    REQUIRE(host.notes.size() == 1);
    CHECK(host.notes.front().find("12.9") != std::string::npos);
    CHECK(host.notes.front().find("12.4") != std::string::npos);
    CHECK(host.measured->verdict == "ok");
}

TEST_CASE("measured twice is measured once") {
    const Host once = with_measured(machine("550.54.15", "12.4"), gives("12.9"));
    const Host twice = with_measured(once, gives("12.9"));
    CHECK(twice.notes == once.notes);
    CHECK(twice.sources == once.sources);
    CHECK(twice.driver->source == once.driver->source);
}

TEST_CASE("a probe that could not ask the driver leaves what was known") {
    Measured broken;
    broken.verdict = "driver-broken";
    broken.failed = {{"driver", "CE315", "cuInit is refused (803)", "the files do not fit"}};
    const Host host = with_measured(machine("550.54.15", "12.4"), broken);
    CHECK(host.driver->cuda->str() == "12.4");
    CHECK(host.driver->derived);
    CHECK(host.notes.empty());
    CHECK(host.measured->failed.size() == 1);
}

TEST_CASE("a driver and GPUs that only the probe saw are there") {
    Host bare;
    bare.driver_absent = "no nvidia kernel module is loaded";
    bare.gpus_absent = "no PCI bus";
    Measured measured = gives("13.0");
    measured.gpus = {{"NVIDIA H200", "GPU-1", ComputeCapability{9, 0}}};
    const Host host = with_measured(bare, measured);
    CHECK(host.driver->cuda->str() == "13.0");
    CHECK(host.driver_absent.empty());
    REQUIRE(host.gpus.size() == 1);
    CHECK(host.gpus[0].compute_capability == ComputeCapability{9, 0});
    CHECK(host.gpus[0].source == "measured by cudaenv probe");
    CHECK(host.gpus_absent.empty());

    // Some of them, as CUDA_VISIBLE_DEVICES has them: not to be counted as 0, 1, ...
    CHECK(with_measured(bare, measured, UnknownGpus::Leave).gpus.empty());
}

TEST_CASE("a GPU is found again by its uuid, its name, or because all are alike") {
    Host host = machine("580.95.05", "13.0");
    host.gpus = {gpu(0, "H200", "", std::nullopt), gpu(1, "GeForce RTX 3090", "", std::nullopt),
                 gpu(2, "", "GPU-7", ComputeCapability{7, 5})};
    Measured measured = gives("13.0");
    measured.gpus = {{"NVIDIA A card of tomorrow", "GPU-7", ComputeCapability{12, 0}},
                     {"NVIDIA H200 MIG 1g.18gb", "MIG-1", ComputeCapability{9, 0}}};
    host = with_measured(host, measured);
    CHECK(host.gpus[0].compute_capability == ComputeCapability{9, 0});
    CHECK_FALSE(host.gpus[1].compute_capability); // hidden from the probe
    CHECK(host.gpus[1].source == "the PCI list");
    CHECK(host.gpus[2].compute_capability == ComputeCapability{12, 0});
    REQUIRE(host.notes.size() == 1); // 7.5 was wrong, and is reported
    CHECK(host.notes.front().find("sm_75") != std::string::npos);

    Host unnamed;
    unnamed.gpus = {gpu(0, "", "", std::nullopt), gpu(1, "", "", std::nullopt)};
    measured.gpus = {{"NVIDIA H200", "GPU-1", ComputeCapability{9, 0}},
                     {"NVIDIA H200", "GPU-2", ComputeCapability{9, 0}}};
    CHECK(with_measured(unnamed, measured).gpus[1].compute_capability == ComputeCapability{9, 0});
    measured.gpus[1].compute_capability = ComputeCapability{8, 0};
    CHECK_FALSE(with_measured(unnamed, measured).gpus[1].compute_capability);
}

TEST_CASE("what was measured here says nothing of a machine that is described") {
    const Host host = with_measured(machine("550.54.15", "12.4"), gives("12.9"));
    const auto cuda = [](const DottedVersion&) { return std::optional<DottedVersion>(); };
    CHECK_FALSE(with_overrides(host, "470.199.02", {}, cuda)->measured);
    CHECK_FALSE(with_overrides(host, "470.199.02", {}, cuda)->driver->measured);
    CHECK_FALSE(with_overrides(host, std::nullopt, {"8.6"}, cuda)->measured);
    CHECK(with_overrides(host, std::nullopt, {}, cuda)->measured);
}

} // namespace
} // namespace cudaenv::facts
