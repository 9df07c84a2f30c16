// cudaenv-probe itself, over a library that answers as the driver's does.
#include "host/driver.hpp"
#include "tests/support/fake_disk.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

namespace cudaenv::host {
namespace {

using namespace std::chrono_literals;

ChildOutcome probe(const std::string& mode, std::chrono::milliseconds deadline = 60s) {
    ChildProcessRunner runner;
    return runner.run(
        {{CUDAENV_PROBE, "--facts"}, {"LD_LIBRARY_PATH=" CUDAENV_FAKE_NVML, "FAKE_NVML=" + mode}},
        deadline);
}

bool mentions(const std::vector<std::string>& errors, const std::string& words) {
    return std::any_of(errors.begin(), errors.end(), [&](const std::string& error) {
        return error.find(words) != std::string::npos;
    });
}

TEST_CASE("the probe reports driver, CUDA and every GPU in one line") {
    const auto outcome = probe("two-gpus");
    REQUIRE(outcome.exit_status == 0);
    CHECK(std::count(outcome.output.begin(), outcome.output.end(), '\n') == 1);
    const auto facts = parse_probe_facts(outcome.output);
    REQUIRE(facts);
    CHECK(facts->driver_version->str() == "470.199.02");
    CHECK(facts->cuda->str() == "11.4");
    CHECK(facts->errors.empty());
    REQUIRE(facts->gpus.size() == 2);
    CHECK(facts->gpus[0].name == "NVIDIA GeForce RTX 3090");
    CHECK(facts->gpus[0].pci_device == "0x2204");
    CHECK(facts->gpus[0].compute_capability == ComputeCapability{8, 6});
    CHECK(facts->gpus[0].memory_bytes == 25769803776ULL);
    CHECK_FALSE(facts->gpus[0].mig);
    CHECK(facts->gpus[1].mig);
}

TEST_CASE("a library that does not fit the kernel module is reported, not guessed around") {
    const auto facts = parse_probe_facts(probe("mismatch").output);
    REQUIRE(facts);
    CHECK_FALSE(facts->cuda);
    CHECK_FALSE(facts->driver_version);
    CHECK(mentions(facts->errors, "Driver/library version mismatch"));
}

TEST_CASE("implausible answers of the driver are left out and reported") {
    const auto outcome = probe("garbage");
    REQUIRE(outcome.exit_status == 0);
    const auto facts = parse_probe_facts(outcome.output);
    REQUIRE(facts);
    CHECK_FALSE(facts->cuda);
    CHECK_FALSE(facts->driver_version);
    CHECK(facts->gpus.empty());
    CHECK(mentions(facts->errors, "123456789"));
    CHECK(mentions(facts->errors, "4000000000"));
}

TEST_CASE("a driver that never answers costs the deadline, not more") {
    const auto outcome = probe("hang", 300ms);
    CHECK(outcome.timed_out);
}

TEST_CASE("a stand-in for the probe that hangs leaves the driver known from the kernel's files") {
    test::TemporaryTree tree;
    const auto script = tree.file("probe", "#!/bin/sh\nsleep 600\n", 0755);
    test::FakeDisk disk;
    disk.file("/proc/driver/nvidia/version",
              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.199.02  Thu May 11 2023\n")
        .file("/dev/nvidia0");
    ChildProcessRunner processes;
    const auto found = find_driver(disk, processes, {{"PATH", "/usr/bin:/bin"}}, {script, 300ms});
    REQUIRE(found.driver);
    CHECK(found.driver->cuda->str() == "11.4");
    CHECK(found.driver->derived);
    CHECK(found.driver->source.find("no answer within 300 ms") != std::string::npos);
}

TEST_CASE("without NVML the probe says only that") {
    ChildProcessRunner runner;
    const auto outcome = runner.run({{CUDAENV_PROBE, "--facts"}, {}}, 60s);
    REQUIRE(outcome.exit_status == 0);
    const auto facts = parse_probe_facts(outcome.output);
    REQUIRE(facts);
    if (facts->cuda) {
        SKIP("this machine has a driver; run where there is none");
    }
    CHECK(mentions(facts->errors, "NVML is not here"));
}

TEST_CASE("the probe refuses what it does not know") {
    ChildProcessRunner runner;
    const auto outcome = runner.run({{CUDAENV_PROBE, "--everything"}, {}}, 10s);
    CHECK(outcome.exit_status == 2);
    CHECK(outcome.output.empty());
    CHECK(outcome.error.find("--facts") != std::string::npos);
}

} // namespace
} // namespace cudaenv::host
