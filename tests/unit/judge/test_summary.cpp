// The steps that are right, the ones that were not reached, and the line for the whole.
#include "tests/unit/judge/cases.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

namespace {

using namespace cudaenv;
using facts::ProbeResult;
using facts::ProbeStep;
using judge::StepStatus;
using testing::Bench;

std::vector<std::string> details(const judge::ProbeOutcome& outcome) {
    std::vector<std::string> all;
    for (const auto& step : outcome.steps) {
        all.push_back(step.name + ": " + step.detail);
    }
    return all;
}

void second_gpu(Bench& bench) {
    for (const ProbeStep step : {ProbeStep::Gpu, ProbeStep::Memory, ProbeStep::Kernel}) {
        facts::ProbeRung rung = bench.rung(step);
        rung.gpu = 1;
        bench.report.rungs.push_back(rung);
    }
    bench.rung(ProbeStep::Driver).devices = 2;
}

facts::ProbeRung& rung_of(Bench& bench, ProbeStep step, int gpu) {
    return *std::find_if(bench.report.rungs.begin(), bench.report.rungs.end(),
                         [&](const auto& rung) { return rung.step == step && rung.gpu == gpu; });
}

// A GPU without a context, and so without a kernel.
void is_left_out(Bench& bench, int gpu, const char* call, int error) {
    auto& memory = rung_of(bench, ProbeStep::Memory, gpu);
    memory.result = ProbeResult::Failed;
    memory.call = call;
    memory.error = error;
    auto& kernel = rung_of(bench, ProbeStep::Kernel, gpu);
    kernel.result = ProbeResult::Skipped;
    kernel.message = "no memory of this GPU can be used";
}

} // namespace

TEST_CASE("a healthy quick probe says what it saw at each step") {
    const Bench bench;
    const auto outcome = bench.judged();
    CHECK(details(outcome) == std::vector<std::string>{
                                  "library: libcuda.so.580.159.04",
                                  "driver: 580.159.04 gives CUDA 13.0",
                                  "gpu: NVIDIA H200, sm_90",
                                  "runtime: 13.0 of this env",
                                  "memory: allocate, copy, compare",
                                  "kernel: machine code for sm_90, result correct",
                              });
    CHECK(std::all_of(outcome.steps.begin(), outcome.steps.end(), [](const auto& step) {
        return step.status == StepStatus::Ok && step.code.empty() && !step.fix;
    }));
    CHECK(name_of(outcome.verdict) == "ok");
    CHECK(outcome.summary == "driver 13.0 >= runtime 13.0, and CUDA works on the GPU");
    REQUIRE(outcome.driver_cuda);
    CHECK(outcome.driver_cuda->str() == "13.0");
    REQUIRE(outcome.runtime);
    CHECK(outcome.runtime->version.str() == "13.0");
}

TEST_CASE("a healthy full probe goes on to the libraries") {
    Bench bench;
    bench.climbs_all();
    const auto outcome = bench.judged();
    CHECK(name_of(outcome.verdict) == "ok");
    auto all = details(outcome);
    all.erase(all.begin(), all.begin() + 6);
    CHECK(all == std::vector<std::string>{
                     "ptx: PTX 6.0 compiled by the driver, result correct",
                     "ptx-runtime: PTX 9.0 of CUDA 13.0 accepted, result correct",
                     "nvrtc: 13.0, compiles, and the driver runs it",
                     "cublas: 13.1.0, products correct",
                     "cudnn: 9.19.0, for CUDA 13.0, convolution correct",
                     "nccl: one GPU: nothing to exchange",
                 });
    REQUIRE(outcome.cudnn);
    CHECK(outcome.cudnn->version.str() == "9.19.0");
}

TEST_CASE("a runtime that is not the environment's is said to be elsewhere") {
    Bench bench;
    bench.rung(ProbeStep::Runtime).path = "/usr/local/cuda-13.0/lib64/libcudart.so.13.0.96";
    CHECK(details(bench.judged())[3] ==
          "runtime: 13.0, not of this env: /usr/local/cuda-13.0/lib64");
    bench.context.environment = nullptr;
    CHECK(details(bench.judged())[3] == "runtime: 13.0 of /usr/local/cuda-13.0/lib64");
}

TEST_CASE("the runtime of 11.8, which reports version 0, is recognized by its file's name") {
    Bench bench;
    bench.rung(ProbeStep::Runtime).version.reset();
    bench.rung(ProbeStep::Runtime).path = "/home/me/env/lib/libcudart.so.11.8.89";
    const auto outcome = bench.judged();
    REQUIRE(outcome.runtime);
    CHECK(outcome.runtime->version.str() == "11.8");
}

TEST_CASE("what was not reached is skipped and says what failed, never right") {
    Bench bench;
    bench.climbs_all();
    bench.fails(ProbeStep::Driver, "cuInit", 999);
    const auto outcome = bench.judged();
    CHECK(outcome.steps.size() == 12);
    for (const auto& step : outcome.steps) {
        if (step.name != "library" && step.name != "driver") {
            INFO(step.name);
            CHECK(step.status == StepStatus::Skipped);
            CHECK(step.detail == "not reached: driver failed");
        }
    }
    CHECK(!outcome.driver_cuda);
}

TEST_CASE("what was not reached names the rung that ended the child, not one that failed before") {
    Bench bench;
    bench.climbs_all();
    bench.lost(ProbeStep::Cudnn, facts::ProbeReport::Ending::Crashed, "ended by signal 6");
    bench.fails(ProbeStep::Cublas, "cublasCreate", 8);
    CHECK(details(bench.judged()).back() == "nccl: not reached: cudnn crashed");
    bench.report.ending = facts::ProbeReport::Ending::TimedOut;
    CHECK(details(bench.judged()).back() == "nccl: not reached: cudnn hung");
}

TEST_CASE("a quick probe has no steps beyond the kernel, not even skipped ones") {
    Bench bench;
    bench.lost(ProbeStep::Driver, facts::ProbeReport::Ending::TimedOut, "killed");
    const auto outcome = bench.judged();
    CHECK(outcome.steps.size() == 6);
    CHECK(outcome.steps.back().name == "kernel");
    CHECK(outcome.summary == "driver: hung at driver: killed");
}

TEST_CASE("each GPU has its own steps, and one that is busy leaves the other served") {
    Bench bench;
    second_gpu(bench);
    CHECK(bench.judged().summary == "driver 13.0 >= runtime 13.0, and CUDA works on all 2 GPUs");
    is_left_out(bench, 1, "cudaSetDevice", 46);
    const auto outcome = bench.judged();
    CHECK(name_of(outcome.verdict) == "warns");
    CHECK(outcome.summary == "CUDA works on 1 of 2 GPUs; memory, gpu 1: cudaSetDevice: error 46: "
                             "NVIDIA H200 (sm_90) is in use, or you may not use it");
}

TEST_CASE("a GPU that computes wrong is not outweighed by one that is busy") {
    Bench bench;
    second_gpu(bench);
    auto& memory = rung_of(bench, ProbeStep::Memory, 0);
    memory.result = ProbeResult::Failed;
    memory.call = "cudaMalloc";
    memory.error = 2;
    rung_of(bench, ProbeStep::Kernel, 1).result = ProbeResult::Wrong;
    const auto outcome = bench.judged();
    CHECK(name_of(outcome.verdict) == "fails");
    CHECK(outcome.summary ==
          "CUDA works on 1 of 2 GPUs; kernel, gpu 1: WRONG RESULT on NVIDIA H200 (sm_90)");
}

TEST_CASE("of two GPUs the one that torch has no code for fails, and the other is served") {
    Bench bench;
    bench.climbs_all();
    second_gpu(bench);
    rung_of(bench, ProbeStep::Gpu, 1).name = "Tesla V100-SXM2-16GB";
    rung_of(bench, ProbeStep::Gpu, 1).compute_capability = ComputeCapability{7, 0};
    rung_of(bench, ProbeStep::Kernel, 1).architecture = "sm_70";
    const auto outcome = bench.judged();
    CHECK(name_of(outcome.verdict) == "fails");
    CHECK(outcome.summary == "CUDA works on 1 of 2 GPUs; kernel, gpu 1: torch 2.11.0+cu130 has no "
                             "code for sm_70; the probe's machine code for sm_70 runs");
    for (const auto& step : outcome.steps) {
        INFO(step.name << ' ' << step.gpu.value_or(-1));
        CHECK((step.status == StepStatus::Fails) == (step.name == "kernel" && step.gpu == 1));
        CHECK(step.machine_is_right == (step.status == StepStatus::Fails));
    }
}

TEST_CASE(
    "what fails by the environment's code alone keeps nothing from being reported that is above") {
    Bench bench;
    bench.climbs_all();
    bench.has_gpu("Tesla V100-SXM2-16GB", {7, 0});
    bench.rung(ProbeStep::Kernel).architecture = "sm_70";
    bench.lacks(ProbeStep::Cudnn);
    const auto outcome = bench.judged();
    CHECK(name_of(outcome.verdict) == "fails");
    CHECK(outcome.steps[10].name == "cudnn");
    CHECK(outcome.steps[10].code == "CE340");
    CHECK(outcome.not_looked_at.empty());
}

TEST_CASE("of two GPUs one that ran no kernel is not passed over") {
    Bench bench;
    second_gpu(bench);
    auto& kernel = rung_of(bench, ProbeStep::Kernel, 1);
    kernel.result = ProbeResult::Skipped;
    kernel.message = "the probe's PTX is for compute capability 5.0 and newer";
    const auto outcome = bench.judged();
    CHECK(name_of(outcome.verdict) == "warns");
    CHECK(outcome.summary ==
          "CUDA works on 1 of 2 GPUs; kernel, gpu 1: the probe's PTX is for compute "
          "capability 5.0 and newer");
    // Though there is another warning, of what all of them have.
    bench.runs_on("13.5");
    CHECK(bench.judged().summary == outcome.summary);
    std::erase_if(bench.report.rungs,
                  [](const auto& rung) { return rung.step == ProbeStep::Kernel && rung.gpu == 1; });
    CHECK(bench.judged().summary == "CUDA works on 1 of 2 GPUs; kernel, gpu 1: not reached");
}

TEST_CASE("of two GPUs that are both held by others none is served, which is busy") {
    Bench bench;
    second_gpu(bench);
    for (const int gpu : {0, 1}) {
        is_left_out(bench, gpu, "compute mode", 46);
        rung_of(bench, ProbeStep::Gpu, gpu).compute_mode = 3;
    }
    CHECK(name_of(bench.judged().verdict) == "busy");
}

TEST_CASE("a ladder that ran no kernel is not ok") {
    Bench bench;
    bench.skips(ProbeStep::Memory, "left out");
    bench.skips(ProbeStep::Kernel, "left out");
    const auto outcome = bench.judged();
    CHECK(name_of(outcome.verdict) == "warns");
    CHECK(outcome.summary == "no kernel was run: memory, gpu 0: left out");
}

TEST_CASE("what was asked for and not tried for the GPU's state is no whole answer") {
    using Words = std::vector<std::string>;
    Bench bench;
    CHECK(bench.judged().not_looked_at.empty());
    bench.climbs_all(); // one GPU has no partner to exchange with: nothing was skipped
    CHECK(bench.judged().not_looked_at.empty());
    bench.rung(ProbeStep::Gpu).reason = facts::RungReason::Busy;
    bench.rung(ProbeStep::Gpu).message = "busy: 2 processes compute on it";
    CHECK(bench.judged().not_looked_at.empty());
    bench.skips(ProbeStep::Cublas, "busy, 2 processes compute on it: not tried");
    bench.skips(ProbeStep::Cudnn, "busy, 2 processes compute on it: not tried");
    CHECK(name_of(bench.judged().verdict) == "ok");
    CHECK(bench.judged().not_looked_at == Words{"cublas", "cudnn"});
    bench.rung(ProbeStep::Gpu).message.clear();
    bench.rung(ProbeStep::Gpu).compute_mode = 3;
    bench.skips(ProbeStep::Ptx, "exclusive mode: the quick probe only");
    CHECK(bench.judged().not_looked_at == Words{"ptx", "cublas", "cudnn"});
}

TEST_CASE("a library that is not here, and PTX that cannot be asked for, were looked at") {
    Bench bench;
    bench.climbs_all();
    bench.lacks(ProbeStep::Cudnn);
    bench.skips(ProbeStep::PtxRuntime, "there is no runtime whose version could be asked for");
    CHECK(bench.judged().not_looked_at.empty());
}

TEST_CASE("what a failure, a loss or a second GPU that is spared kept from being tried is named") {
    using Words = std::vector<std::string>;
    Bench two;
    two.climbs_all();
    second_gpu(two);
    two.skips(ProbeStep::Nccl, "one GPU: nothing to exchange"); // the other one is busy
    CHECK(two.judged().not_looked_at == Words{"nccl"});
    Bench broken;
    broken.fails(ProbeStep::Memory, "cudaMalloc", 2);
    CHECK(broken.judged().not_looked_at == Words{"kernel"});
    Bench lost;
    lost.climbs_all();
    lost.lost(ProbeStep::Cublas, facts::ProbeReport::Ending::Crashed, "ended by signal 6");
    CHECK(lost.judged().not_looked_at == Words{"cudnn", "nccl"});
}

TEST_CASE("a kernel that the driver had to compile says so") {
    Bench bench;
    bench.rung(ProbeStep::Kernel).architecture = "compute_50";
    CHECK(details(bench.judged()).back() ==
          "kernel: PTX for compute_50 compiled by the driver, result correct");
}

TEST_CASE("cuda-compat that works is what it is for") {
    Bench bench;
    bench.gives_cuda("535.288.01", "13.0");
    bench.loads_libcuda("/usr/local/cuda-13.0/compat/libcuda.so.580.95.05");
    CHECK(name_of(bench.judged().verdict) == "ok");
}

TEST_CASE("a MIG instance is named as one") {
    Bench bench;
    bench.rung(ProbeStep::Gpu).name = "NVIDIA H200 MIG 1g.18gb";
    bench.rung(ProbeStep::Gpu).mig = true;
    CHECK(details(bench.judged())[2] == "gpu: NVIDIA H200 MIG 1g.18gb, sm_90, a MIG instance");
}

TEST_CASE("a program that was built and could not be run is skipped, with what was built") {
    Bench bench;
    bench.skips(ProbeStep::Build, "nvcc 13.0.88 with g++-12 compiles and links; not run: no GPU");
    bench.rung(ProbeStep::Build).path = "/usr/local/cuda-13.0/bin/nvcc";
    const auto outcome = bench.judged();
    CHECK(outcome.steps.back().status == StepStatus::Skipped);
    CHECK(outcome.steps.back().code.empty());
    CHECK(outcome.steps.back().detail ==
          "nvcc 13.0.88 with g++-12 compiles and links; not run: no GPU");
}

TEST_CASE("control characters of a driver never reach the line") {
    Bench bench;
    bench.rung(ProbeStep::Gpu).name = "NVIDIA\x1b[31m H200\n\n!";
    const auto detail = details(bench.judged())[2];
    CHECK(detail.find('\x1b') == std::string::npos);
    CHECK(detail.find('\n') == std::string::npos);
}

TEST_CASE(
    "a child's last output is one line of at most 200 characters, without control characters") {
    Bench bench;
    bench.lost(ProbeStep::Kernel, facts::ProbeReport::Ending::Crashed, "ended by signal 6");
    const auto words_of = [&](std::string words) {
        bench.report.words = std::move(words);
        const std::string cause = bench.judged().steps.back().cause;
        const std::string mark = "its last output: ";
        const auto at = cause.find(mark);
        return at == std::string::npos ? std::string() : cause.substr(at + mark.size());
    };
    CHECK(words_of("").empty());
    CHECK(words_of(" \n\x1b[0m\n").empty());
    CHECK(words_of("\x1b[1;31mred\x1b[0m\a\tword\xc2\x9b\r\n\nlast\n") == "red word / last");
    CHECK(words_of("no text: \xff") == "no text: \\xff");
    // Lines go as a whole, the last first; one alone is cut between two characters.
    CHECK(words_of(std::string(190, 'x') + "\nterminate called\n  what(): no") ==
          "terminate called / what(): no");
    std::string umlauts;
    std::string kept;
    for (int i = 0; i < 300; ++i) {
        umlauts += "\xc3\xa4";
        kept += i < 197 ? "\xc3\xa4" : "";
    }
    CHECK(words_of(umlauts) == kept + "...");
    // The one that says what is missing, before a backtrace.
    CHECK(words_of("Unable to load any of {libx.so.9, libx.so}\nInvalid handle\n" +
                   std::string(300, 'b')) ==
          "Unable to load any of {libx.so.9, libx.so} / Invalid handle");
}

TEST_CASE("a report of nothing at all is judged too") {
    const auto outcome = judge::judge_probe({}, {});
    CHECK(name_of(outcome.verdict) != "ok");
    CHECK(outcome.steps.size() == 6);
}
