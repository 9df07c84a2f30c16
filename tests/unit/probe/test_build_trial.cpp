#include "host/probe/build_trial.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

#include <thread>

using namespace cudaenv;
using namespace cudaenv::host;
using namespace cudaenv::probe;

namespace {

using Environment = std::vector<std::string>;

facts::ProbeReport with_gpus(int count) {
    facts::ProbeReport report;
    for (int i = 0; i < count; ++i) {
        facts::ProbeRung gpu;
        gpu.step = facts::ProbeStep::Gpu;
        gpu.gpu = i;
        gpu.uuid = "GPU-" + std::to_string(i);
        gpu.compute_capability = ComputeCapability{9, 0};
        facts::ProbeRung kernel;
        kernel.step = facts::ProbeStep::Kernel;
        kernel.gpu = i;
        report.rungs.insert(report.rungs.end(), {gpu, kernel});
    }
    return report;
}

BuildTrial aimed(const facts::ProbeReport& report) {
    BuildTrial trial;
    trial.environment = {"PATH=/bin", "CUDA_VISIBLE_DEVICES=0,1"};
    aim(trial, report);
    return trial;
}

// One that takes a moment and fails.
class SlowProcesses final : public ProcessRunner {
public:
    std::vector<ChildOutcome> run_all(std::span<const ChildCommand> commands,
                                      std::chrono::milliseconds) override {
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
        while (std::chrono::steady_clock::now() < until) {
            std::this_thread::yield();
        }
        ChildOutcome outcome;
        outcome.started = true;
        outcome.exit_status = 1;
        outcome.failure = "exit status 1";
        return std::vector<ChildOutcome>(commands.size(), outcome);
    }
};

} // namespace

TEST_CASE("what was built sees the one GPU on which a kernel ran, not the first of all") {
    auto report = with_gpus(2);
    CHECK(aimed(report).environment == Environment{"PATH=/bin", "CUDA_VISIBLE_DEVICES=GPU-0"});
    report.rungs[1].result = facts::ProbeResult::Skipped; // left alone: full
    const auto trial = aimed(report);
    CHECK(trial.environment == Environment{"PATH=/bin", "CUDA_VISIBLE_DEVICES=GPU-1"});
    CHECK(trial.not_run.empty());
    CHECK(trial.gpus.size() == 1); // each architecture once
}

TEST_CASE("a GPU that is exclusive or busy is not the one on which what was built runs") {
    auto report = with_gpus(3);
    report.rungs[0].compute_mode = 3;
    report.rungs[2].reason = facts::RungReason::Busy;
    report.rungs[2].message = "busy: 2 processes compute on it";
    CHECK(aimed(report).environment.back() == "CUDA_VISIBLE_DEVICES=GPU-2");
    report.rungs[5].result = facts::ProbeResult::Failed;
    const auto trial = aimed(report);
    CHECK(trial.not_run == "GPU 1 is busy: 2 processes compute on it");
    CHECK(trial.environment == Environment{"PATH=/bin", "CUDA_VISIBLE_DEVICES="});
    CHECK(trial.gpus.size() == 1); // it is compiled all the same
}

TEST_CASE("where no kernel ran, what was built sees no GPU, torch's extension either") {
    auto report = with_gpus(1);
    report.rungs[1].result = facts::ProbeResult::Failed;
    CHECK(aimed(report).not_run == "no GPU here ran a kernel");
    CHECK(aimed(report).environment.back() == "CUDA_VISIBLE_DEVICES=");
    CHECK(aimed({}).not_run == "no GPU was found here");
}

TEST_CASE("an instance of MIG is named by its own UUID, never by its GPU's") {
    auto report = with_gpus(2);
    report.rungs[0].mig = true;
    report.rungs[0].uuid = "MIG-1";
    CHECK(aimed(report).environment.back() == "CUDA_VISIBLE_DEVICES=MIG-1");
    report.rungs[0].uuid = "GPU-0";                                        // an old driver's answer
    CHECK(aimed(report).environment.back() == "CUDA_VISIBLE_DEVICES=0,1"); // the first: as it is
    report.rungs[1].result = facts::ProbeResult::Skipped;
    report.rungs[2].uuid.clear();
    CHECK(aimed(report).not_run == "the driver gives GPU 1 no UUID, so it cannot be selected");
}

TEST_CASE("what a build took is reported, also where it failed") {
    test::TemporaryTree tree;
    SlowProcesses processes;
    BuildTrial trial;
    trial.nvcc = "/opt/cuda/bin/nvcc";
    trial.directory = tree.path();
    for (const auto& rung :
         {try_program(trial, processes, std::chrono::seconds(1)),
          try_torch_extension(trial, "/opt/env/bin/python", processes, std::chrono::seconds(1))}) {
        CHECK(rung.result == facts::ProbeResult::Failed);
        CHECK(rung.took_ms >= 2);
    }
}
