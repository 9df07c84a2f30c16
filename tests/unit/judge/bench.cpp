#include "tests/unit/judge/bench.hpp"

namespace cudaenv::testing {

using facts::ProbeResult;
using facts::ProbeRung;
using facts::ProbeStep;
using Ending = facts::ProbeReport::Ending;

namespace {

constexpr const char* k_runtime = "/home/me/env/lib/python3.12/site-packages/nvidia/cu13/lib/"
                                  "libcudart.so.13";

bool is_of_gpu(ProbeStep step) {
    return step == ProbeStep::Gpu || facts::row_of(step).reach == facts::RungReach::EachGpu;
}

} // namespace

Bench::Bench() {
    host.driver = facts::Driver{DottedVersion::of("580.159.04"), std::nullopt, std::nullopt, false,
                                "/proc/driver/nvidia/version"};
    host.distribution = "Debian 12";
    facts::Gpu gpu;
    gpu.name = "NVIDIA H200";
    gpu.uuid = "GPU-8f6f6a3e-1111-2222-3333-444444444444";
    gpu.compute_capability = ComputeCapability{9, 0};
    host.gpus.push_back(gpu);
    environment.prefix = "/home/me/env";
    environment.kind = facts::EnvironmentKind::Venv;
    environment.site_packages = {"/home/me/env/lib/python3.12/site-packages"};
    environment.frameworks.push_back(
        {"torch", "2.11.0+cu130", DottedVersion::of("13.0"), false, "torch/version.py"});
    context.host = &host;
    context.environment = &environment;
    context.environment_name = "env";
    context.device_files = true;

    loads_libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04");
    rung(ProbeStep::Driver).devices = 1;
    gives_cuda("580.159.04", "13.0");
    has_gpu("NVIDIA H200", {9, 0});
    runs_on("13.0");
    rung(ProbeStep::Memory).memory_free = 100ULL << 30U;
    rung(ProbeStep::Kernel).architecture = "sm_90";
}

ProbeRung& Bench::rung(ProbeStep step) {
    for (ProbeRung& one : report.rungs) {
        if (one.step == step && one.gpu.value_or(0) == 0) {
            return one;
        }
    }
    ProbeRung& made = report.rungs.emplace_back();
    made.step = step;
    if (is_of_gpu(step)) {
        made.gpu = 0;
    }
    return made;
}

void Bench::drop_after(ProbeStep step) {
    std::erase_if(report.rungs, [&](const ProbeRung& one) { return one.step > step; });
}

ProbeRung& Bench::failed(ProbeStep step, const char* call) {
    if (step <= ProbeStep::Memory) {
        drop_after(step);
    }
    ProbeRung& one = rung(step);
    one.result = ProbeResult::Failed;
    one.call = call;
    return one;
}

void Bench::fails(ProbeStep step, const char* call, int error, const char* name) {
    ProbeRung& one = failed(step, call);
    one.error = error;
    one.error_name = name;
}

void Bench::refuses(ProbeStep step, const char* call, const char* message) {
    failed(step, call).message = message;
}

void Bench::skips(ProbeStep step, const char* message) {
    ProbeRung& one = rung(step);
    one.result = ProbeResult::Skipped;
    one.path.clear();
    one.version.reset();
    one.message = message;
}

void Bench::lacks(ProbeStep step) {
    skips(step, "it was not found");
    rung(step).reason = facts::RungReason::Absent;
}

void Bench::lost(ProbeStep step, Ending ending, const char* failure) {
    drop_after(step);
    rung(step).result = ProbeResult::Unfinished;
    report.ending = ending;
    report.failure = failure;
}

void Bench::loads_libcuda(const char* path) {
    rung(ProbeStep::Library).path = path;
}

void Bench::gives_cuda(const char* driver, const char* cuda) {
    host.driver->version = DottedVersion::of(driver);
    loads_libcuda((std::string("/usr/lib/x86_64-linux-gnu/libcuda.so.") + driver).c_str());
    rung(ProbeStep::Driver).cuda = DottedVersion::of(cuda);
}

void Bench::runs_on(const char* runtime) {
    rung(ProbeStep::Runtime).version = DottedVersion::of(runtime);
    rung(ProbeStep::Runtime).path = k_runtime;
}

void Bench::has_gpu(const char* name, ComputeCapability capability) {
    rung(ProbeStep::Gpu).name = name;
    rung(ProbeStep::Gpu).compute_capability = capability;
    rung(ProbeStep::Gpu).compute_mode = 0;
}

void Bench::climbs_all() {
    context.full = true;
    rung(ProbeStep::Ptx).isa = DottedVersion::of("6.0");
    rung(ProbeStep::PtxRuntime).isa = DottedVersion::of("9.0");
    rung(ProbeStep::Nvrtc).version = DottedVersion::of("13.0");
    rung(ProbeStep::Cublas).version = DottedVersion::of("13.1.0");
    rung(ProbeStep::Cudnn).version = DottedVersion::of("9.19.0");
    rung(ProbeStep::Cudnn).cuda = DottedVersion::of("13.0");
    rung(ProbeStep::Cudnn).path = "/home/me/env/lib/libcudnn.so.9";
    skips(ProbeStep::Nccl, "one GPU: nothing to exchange");
}

judge::ProbeOutcome Bench::judged() const {
    return judge::judge_probe(report, context);
}

} // namespace cudaenv::testing
