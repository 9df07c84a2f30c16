// The GPUs, and their memory.
#include "tests/unit/judge/cases/rows.hpp"

namespace cudaenv::testing {

namespace {

// A GPU of which no context was made.
Change leaves_alone(ProbeResult result, const char* call) {
    return [=](Bench& bench) {
        bench.drop_after(ProbeStep::Memory);
        ProbeRung& memory = bench.rung(ProbeStep::Memory);
        memory.result = result;
        memory.call = call;
        memory.memory_free.reset();
        if (result == ProbeResult::Failed) { // with the number that CUDA would have given
            memory.error = std::string_view(call) == "memory" ? 2 : 46;
            memory.error_name = "CUDA_ERROR_DEVICE_UNAVAILABLE";
        }
        memory.message = "left alone: another process is on it";
    };
}

} // namespace

std::vector<Case> gpu_cases() {
    return {
        {"a libcuda without a function is broken",
         [](Bench& bench) {
             bench.refuses(ProbeStep::Gpu, "dlsym", "libcuda.so has no cuDeviceGetAttribute");
         },
         ProbeStep::Gpu,
         "CE302",
         k_fails,
         ProbeVerdict::DriverBroken,
         "function",
         {{"said", "libcuda.so has no cuDeviceGetAttribute"}}},
        {"a driver that counts no device is asked why",
         [](Bench& bench) {
             bench.context.visible_devices = "-1";
             bench.rung(ProbeStep::Driver).devices = 0;
             bench.drop_after(ProbeStep::Driver);
             facts::ProbeRung gpu;
             gpu.step = ProbeStep::Gpu;
             gpu.result = ProbeResult::Skipped;
             gpu.message = "no GPU is visible";
             bench.report.rungs.push_back(gpu);
         },
         ProbeStep::Gpu,
         "CE308",
         k_fails,
         ProbeVerdict::NoGpu,
         "",
         {{"seen", "0 devices"}, {"value", "-1"}}},
        {"an impossible compute capability is the driver's fault, not a wrong result",
         [](Bench& bench) {
             bench.drop_after(ProbeStep::Gpu);
             bench.rung(ProbeStep::Gpu).result = ProbeResult::Wrong;
             bench.rung(ProbeStep::Gpu).message = "the driver gives a compute capability of 0.0";
         },
         ProbeStep::Gpu,
         "CE315",
         k_fails,
         ProbeVerdict::DriverBroken,
         "",
         {{"seen", "the driver gives a compute capability of 0.0"},
          {"libcuda", "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"}}},
        {"a GPU in prohibited mode is left alone and said to be",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 2;
             bench.drop_after(ProbeStep::Runtime);
         },
         ProbeStep::Gpu,
         "CE316",
         k_fails,
         ProbeVerdict::Busy,
         "prohibited",
         {{"gpu", "NVIDIA H200 (sm_90)"}}},
        {"an MPS server that is gone",
         [](Bench& bench) { bench.fails(ProbeStep::Memory, "cudaSetDevice", 805); },
         ProbeStep::Memory,
         "CE319",
         k_fails,
         ProbeVerdict::Busy,
         "",
         {{"seen", "cudaSetDevice: error 805"}}},
        {"46 is a GPU in use",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaSetDevice", 46, "cudaErrorDevicesUnavailable");
         },
         ProbeStep::Memory,
         "CE316",
         k_fails,
         ProbeVerdict::Busy,
         "",
         {{"seen", "cudaSetDevice: error 46"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"46 under exclusive mode names the mode",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 3;
             bench.fails(ProbeStep::Memory, "cudaSetDevice", 46, "cudaErrorDevicesUnavailable");
         },
         ProbeStep::Memory,
         "CE316",
         k_fails,
         ProbeVerdict::Busy,
         "exclusive",
         {{"seen", "cudaSetDevice: error 46"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"a prohibited GPU whose memory was left alone is reported once, at its own rung",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 2;
             leaves_alone(ProbeResult::Skipped, "compute mode")(bench);
         },
         ProbeStep::Memory,
         "",
         k_skipped,
         ProbeVerdict::Busy,
         "",
         {{"line", "left alone"}}},
        {"an exclusive GPU that is taken is left alone and busy",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 3;
             leaves_alone(ProbeResult::Skipped, "compute mode")(bench);
         },
         ProbeStep::Memory,
         "CE316",
         k_fails,
         ProbeVerdict::Busy,
         "exclusive",
         {{"seen", "left alone"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"an exclusive GPU that is reported as a failure is busy likewise",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 3;
             leaves_alone(ProbeResult::Failed, "compute mode")(bench);
         },
         ProbeStep::Memory,
         "CE316",
         k_fails,
         ProbeVerdict::Busy,
         "exclusive",
         {{"seen", "left alone"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"an exclusive GPU whose process NVML does not show may be taken",
         [](Bench& bench) {
             bench.rung(ProbeStep::Gpu).compute_mode = 3;
             leaves_alone(ProbeResult::Failed, "compute mode")(bench);
             bench.rung(ProbeStep::Memory).reason = RungReason::HolderUnknown;
         },
         ProbeStep::Memory,
         "CE316",
         k_fails,
         ProbeVerdict::Busy,
         "maybe-exclusive",
         {{"seen", "left alone"}, {"gpu", "NVIDIA H200 (sm_90)"}}},
        {"a GPU too full for a context is left alone and busy",
         [](Bench& bench) {
             leaves_alone(ProbeResult::Skipped, "memory")(bench);
             bench.rung(ProbeStep::Memory).memory_free = 300ULL << 20U;
         },
         ProbeStep::Memory,
         "CE317",
         k_fails,
         ProbeVerdict::Busy,
         "left-alone",
         {{"seen", "left alone"}, {"gpu", "NVIDIA H200 (sm_90)"}, {"free", "300"}}},
        {"a GPU too full for a context may be reported as a failure",
         [](Bench& bench) {
             leaves_alone(ProbeResult::Failed, "memory")(bench);
             bench.rung(ProbeStep::Gpu).memory_free = 300ULL << 20U;
         },
         ProbeStep::Memory,
         "CE317",
         k_fails,
         ProbeVerdict::Busy,
         "left-alone",
         {{"seen", "left alone"}, {"gpu", "NVIDIA H200 (sm_90)"}, {"free", "300"}}},
        {"a full GPU is busy, with what is left",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaMalloc", 2, "cudaErrorMemoryAllocation");
             bench.rung(ProbeStep::Memory).memory_free = 3ULL << 20U;
         },
         ProbeStep::Memory,
         "CE317",
         k_fails,
         ProbeVerdict::Busy,
         "",
         {{"seen", "cudaMalloc: error 2"}, {"gpu", "NVIDIA H200 (sm_90)"}, {"free", "3"}}},
        {"a GPU that gives no memory and has much is under a limit",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaMalloc", 2, "cudaErrorMemoryAllocation");
         },
         ProbeStep::Memory,
         "CE317",
         k_fails,
         ProbeVerdict::Busy,
         "limit",
         {{"seen", "cudaMalloc: error 2"}, {"gpu", "NVIDIA H200 (sm_90)"}, {"free", "102400"}}},
        {"36 on a driver of a CUDA that was never released names the newest that was",
         [](Bench& bench) {
             bench.gives_cuda("565.57.01", "12.7");
             bench.runs_on("12.6");
             bench.fails(ProbeStep::Memory, "cudaMalloc", 36, "cudaErrorCallRequiresNewerDriver");
         },
         ProbeStep::Memory,
         "CE324",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "cudaMalloc: error 36"},
          {"driver", "driver 565.57.01"},
          {"runtime", "CUDA 12.6"},
          {"newest", "12.6"}}},
        {"a GPU on which somebody works is reported as busy, and what is heavy is left out",
         [](Bench& bench) {
             bench.climbs_all();
             bench.rung(ProbeStep::Gpu).reason = RungReason::Busy;
             bench.rung(ProbeStep::Gpu).message = "busy: 2 processes compute on it";
             bench.skips(ProbeStep::Cublas, "busy, 2 processes compute on it: not tried");
         },
         ProbeStep::Gpu,
         "",
         judge::StepStatus::Ok,
         ProbeVerdict::Ok,
         "",
         {{"line", "NVIDIA H200, sm_90; busy: 2 processes compute on it"}}},
        {"36 is a call that came later",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaMalloc", 36, "cudaErrorCallRequiresNewerDriver");
         },
         ProbeStep::Memory,
         "CE324",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"seen", "cudaMalloc: error 36"},
          {"driver", "driver 580.159.04"},
          {"runtime", "CUDA 13.0"},
          {"newest", "13.0"}}},
        {"209 of an old runtime, under its old number, is known by its name",
         [](Bench& bench) {
             bench.runs_on("10.0");
             bench.has_gpu("NVIDIA A100", {8, 0});
             bench.fails(ProbeStep::Memory, "cudaMalloc", 48, "cudaErrorNoKernelImageForDevice");
         },
         ProbeStep::Memory,
         "CE326",
         k_fails,
         ProbeVerdict::Fails,
         "",
         {{"cuda", "10.0"},
          {"gpu", "NVIDIA A100 (sm_80)"},
          {"generation", "Ampere"},
          {"other", "11.0"},
          {"command", "cudaenv resolve torch --gpu 8.0"},
          {"seen", "cudaMalloc: cudaErrorNoKernelImageForDevice (48)"}}},
        {"an old runtime's 4 is a launch that failed, not a driver that ends",
         [](Bench& bench) {
             bench.runs_on("9.0");
             bench.fails(ProbeStep::Memory, "cudaMemcpy", 4, "cudaErrorLaunchFailure");
         },
         ProbeStep::Memory,
         "CE390",
         k_fails,
         ProbeVerdict::Fails,
         "own",
         {{"seen", "cudaMemcpy: cudaErrorLaunchFailure (4)"},
          {"gpu", "NVIDIA H200 (sm_90)"},
          {"ran", "copying 2 MiB"}}},
        {"4 of a runtime is a driver that ends",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaMalloc", 4, "cudaErrorCudartUnloading");
         },
         ProbeStep::Memory,
         "CE338",
         k_fails,
         ProbeVerdict::Fails,
         "shutting-down",
         {{"seen", "cudaMalloc: error 4"}}},
        {"304 of a runtime leaves the driver whole",
         [](Bench& bench) {
             bench.fails(ProbeStep::Memory, "cudaSetDevice", 304, "cudaErrorOperatingSystem");
         },
         ProbeStep::Memory,
         "CE339",
         k_fails,
         ProbeVerdict::Fails,
         "refused",
         {{"seen", "cudaSetDevice: error 304"}}},
    };
}

} // namespace cudaenv::testing
