#include "host/probe/driver_files.hpp"
#include "tests/support/fake_processes.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::probe {
namespace {

using facts::ProbeResult;
using facts::ProbeStep;

facts::ProbeReport no_device() {
    facts::ProbeReport report;
    report.rungs.resize(2);
    report.rungs[1].step = ProbeStep::Driver;
    report.rungs[1].result = ProbeResult::Failed;
    report.rungs[1].error = 100;
    return report;
}

facts::Gpu gpu(int index, const char* uuid) {
    facts::Gpu gpu;
    gpu.index = index;
    gpu.uuid = uuid;
    return gpu;
}

constexpr const char* k_reported = R"({"driver_version": "580.159.04", "gpus": [
    {"index": 0, "uuid": "GPU-b", "mig": true}, {"index": 1, "uuid": "GPU-a", "mig": false},
    {"index": 2, "uuid": "GPU-c", "mig": true}]})";

TEST_CASE("a GPU that CUDA does not show learns its MIG mode from NVML, by its UUID") {
    test::FakeProcesses processes;
    processes.answer("/probe --facts", k_reported);
    std::vector<facts::Gpu> gpus{gpu(0, "GPU-a"), gpu(1, "GPU-b"), gpu(2, "GPU-????")};
    learn_mig_mode(processes, "/probe", {}, no_device(), gpus);
    CHECK_FALSE(gpus[0].mig);
    CHECK(gpus[1].mig);
    CHECK(gpus[2].mig); // by its number: the driver has not read its UUID
    CHECK(gpus.size() == 3);

    std::vector<facts::Gpu> none;
    learn_mig_mode(processes, "/probe", {}, no_device(), none);
    CHECK(none.size() == 3);
}

TEST_CASE("NVML is asked for the MIG mode only where CUDA answered and showed no GPU") {
    test::FakeProcesses processes;
    processes.answer("/probe --facts", k_reported);
    std::vector<facts::Gpu> gpus;
    auto report = no_device();
    report.rungs[1].error = 999;
    learn_mig_mode(processes, "/probe", {}, report, gpus);
    report = no_device();
    report.ending = facts::ProbeReport::Ending::TimedOut;
    learn_mig_mode(processes, "/probe", {}, report, gpus);
    report = no_device();
    report.rungs.emplace_back().step = ProbeStep::Gpu;
    report.rungs.back().gpu = 0;
    learn_mig_mode(processes, "/probe", {}, report, gpus);
    CHECK(processes.started.empty());
    processes.hang("/other --facts");
    learn_mig_mode(processes, "/other", {}, no_device(), gpus);
    CHECK(gpus.empty());
}

} // namespace
} // namespace cudaenv::probe
