// CUDA's error numbers wherever a rung meets them, and the endings of a child that did not answer.
#include "solver/plan/probe/packages.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cudaenv::plan::probe {

namespace {

// Names of cudaError_t whose numbers were others before CUDA 10.1 (driver_types.h of 10.0 and of
// 10.1); the driver's numbers never changed.
constexpr auto k_runtime_names = std::to_array<std::pair<std::string_view, int>>({
    {"cudaErrorMemoryAllocation", 2},
    {"cudaErrorInitializationError", 3},
    {"cudaErrorCudartUnloading", 4},
    {"cudaErrorStubLibrary", 34},
    {"cudaErrorInsufficientDriver", 35},
    {"cudaErrorCallRequiresNewerDriver", 36},
    {"cudaErrorDevicesUnavailable", 46},
    {"cudaErrorNoDevice", 100},
    {"cudaErrorInvalidDevice", 101},
    {"cudaErrorInvalidKernelImage", 200},
    {"cudaErrorNoKernelImageForDevice", 209},
    {"cudaErrorECCUncorrectable", 214},
    {"cudaErrorInvalidPtx", 218},
    {"cudaErrorNvlinkUncorrectable", 220},
    {"cudaErrorJitCompilerNotFound", 221},
    {"cudaErrorUnsupportedPtxVersion", 222},
    {"cudaErrorJitCompilationDisabled", 223},
    {"cudaErrorOperatingSystem", 304},
    {"cudaErrorIllegalAddress", 700},
    {"cudaErrorLaunchOutOfResources", 701},
    {"cudaErrorLaunchTimeout", 702},
    {"cudaErrorAssert", 710},
    {"cudaErrorHardwareStackError", 714},
    {"cudaErrorIllegalInstruction", 715},
    {"cudaErrorMisalignedAddress", 716},
    {"cudaErrorInvalidAddressSpace", 717},
    {"cudaErrorInvalidPc", 718},
    {"cudaErrorLaunchFailure", 719},
    {"cudaErrorSystemNotReady", 802},
    {"cudaErrorSystemDriverMismatch", 803},
    {"cudaErrorCompatNotSupportedOnDevice", 804},
    {"cudaErrorUnknown", 999},
});

const facts::ProbeRung* gpu_rung(const Scene& scene, std::optional<int> ordinal) {
    const auto found = scene.gpus.find(ordinal.value_or(0));
    return found == scene.gpus.end() ? nullptr : found->second;
}

StepFix look_for_xid() {
    return {"look for Xid lines of this time", "sudo dmesg | grep -i xid"};
}

// What the step ran on the GPU.
std::string_view what_ran(facts::ProbeStep step) {
    switch (step) {
    case facts::ProbeStep::Memory:
        return "copying 2 MiB";
    case facts::ProbeStep::Kernel:
    case facts::ProbeStep::Ptx:
    case facts::ProbeStep::PtxRuntime:
    case facts::ProbeStep::Nvrtc:
        return "a kernel known to be right";
    case facts::ProbeStep::Build:
    case facts::ProbeStep::TorchExtension:
        return "the program that was built";
    default:
        return "a kernel of that library";
    }
}

Finding explain_unavailable(const Scene& scene, const facts::ProbeRung& rung, std::string seen) {
    Finding finding{"CE316",
                    StepStatus::Fails,
                    fmt::format("{}: {} is in use or closed to you", seen, scene.gpu(rung.gpu)),
                    "another process holds it, or it was left in a bad state",
                    StepFix{"see who uses it", "nvidia-smi"},
                    ProbeVerdict::Busy};
    const facts::ProbeRung* const gpu = gpu_rung(scene, rung.gpu);
    const int mode = gpu != nullptr ? gpu->compute_mode.value_or(0) : 0;
    if (mode == 2) {
        finding.detail = fmt::format("{}{} lets nobody in (compute mode prohibited)",
                                     rung.call.empty() ? "" : seen + ": ", scene.gpu(rung.gpu));
        finding.cause = "its administrator set it so; another GPU may be free";
        finding.fix = StepFix{"take another GPU, or ask whoever runs this machine",
                              "nvidia-smi --query-gpu=index,compute_mode --format=csv"};
    } else if (mode == 1 || mode == 3) {
        finding.detail =
            fmt::format("{}: {} is held by another process", seen, scene.gpu(rung.gpu));
        finding.cause = "its compute mode is exclusive: one process at a time";
        finding.fix = StepFix{"wait for that process, or take another GPU", "nvidia-smi"};
    }
    return finding;
}

// What was free on that GPU: as this rung saw it, or the rung of its memory before.
std::optional<std::uint64_t> free_memory(const Scene& scene, const facts::ProbeRung& rung) {
    if (rung.memory_free) {
        return rung.memory_free;
    }
    for (const facts::ProbeRung& one : scene.report->rungs) {
        if (one.step == facts::ProbeStep::Memory && one.gpu == rung.gpu && one.memory_free) {
            return one.memory_free;
        }
    }
    const facts::ProbeRung* const gpu = gpu_rung(scene, rung.gpu);
    return gpu != nullptr ? gpu->memory_free : std::nullopt; // NVML's, before there was a context
}

constexpr std::uint64_t k_mebibyte = 1024 * 1024;

Finding explain_no_memory(const Scene& scene, const facts::ProbeRung& rung, std::string seen) {
    const auto free = free_memory(scene, rung);
    // A context takes some hundred MB; with more than that left it is not other processes.
    const bool is_limited = free && *free > 1024 * k_mebibyte;
    return {"CE317",
            StepStatus::Fails,
            fmt::format("{}: {} {}{}", seen, scene.gpu(rung.gpu),
                        is_limited ? "gives no memory" : "has no memory left",
                        free ? fmt::format(" ({} MiB free)", *free / k_mebibyte) : ""),
            is_limited ? "a limit is in the way: of MPS, of a job or cgroup, or ulimit -v"
                       : "other processes fill it; the probe needs a few MB and a context of some "
                         "hundred",
            is_limited ? StepFix{"see which limits this shell has", "ulimit -a"}
                       : StepFix{"see who uses it", "nvidia-smi"},
            ProbeVerdict::Busy};
}

} // namespace

bool is_left_alone(const facts::ProbeRung& rung) {
    return rung.step == facts::ProbeStep::Memory &&
           (rung.call == k_compute_mode || rung.call == k_full);
}

Finding explain_left_alone(const Scene& scene, const facts::ProbeRung& rung) {
    const std::string gpu = scene.gpu(rung.gpu);
    if (rung.call == k_full) {
        const auto free = free_memory(scene, rung);
        return {
            "CE317",
            StepStatus::Fails,
            fmt::format("left alone: {} has no memory left{}", gpu,
                        free ? fmt::format(" ({} MiB free)", *free / k_mebibyte) : std::string()),
            "other processes fill it, and a context of some hundred MB could end one of them",
            StepFix{"see who uses it", "nvidia-smi"},
            ProbeVerdict::Busy};
    }
    const facts::ProbeRung* const seen = gpu_rung(scene, rung.gpu);
    const auto mode = rung.compute_mode ? rung.compute_mode
                      : seen != nullptr ? seen->compute_mode
                                        : std::nullopt;
    if (mode == 2) {
        return {"CE316",
                StepStatus::Fails,
                gpu + " lets nobody in (compute mode prohibited)",
                "its administrator set it so; another GPU may be free",
                StepFix{"take another GPU, or ask whoever runs this machine",
                        "nvidia-smi --query-gpu=index,compute_mode --format=csv"},
                ProbeVerdict::Busy};
    }
    const bool is_unknown = contains(rung.message, "does not tell");
    return {
        "CE316",
        StepStatus::Fails,
        fmt::format("left alone: {} {} held by another process", gpu, is_unknown ? "may be" : "is"),
        is_unknown ? "its compute mode is exclusive, one process at a time, and NVML does not "
                     "tell who is on it"
                   : "its compute mode is exclusive: one process at a time",
        StepFix{"wait for that process, or take another GPU", "nvidia-smi"},
        ProbeVerdict::Busy};
}

std::optional<int> cuda_error(const facts::ProbeRung& rung) {
    for (const auto& [name, number] : k_runtime_names) {
        if (rung.error_name == name) {
            return number;
        }
    }
    return rung.error;
}

Finding explain_cuda_error(const Scene& scene, const facts::ProbeRung& rung, int error) {
    std::string seen = refusal(rung);
    switch (error) {
    case 2:
        return explain_no_memory(scene, rung, std::move(seen));
    case 3:
    case 4:
        return {"CE338",
                StepStatus::Fails,
                std::move(seen) + (error == 3 ? ": the driver is not initialised"
                                              : ": the driver is shutting down"),
                error == 3 ? "cuInit did not succeed in this process, or a GPU was lost since"
                           : "the process was ending, or the driver was unloaded under it",
                StepFix{"once more; where it stays, look at what the kernel says",
                        "sudo dmesg | grep -iE 'xid|nvrm' | tail"},
                ProbeVerdict::Fails};
    case 34:
        return explain_stub(scene, std::move(seen));
    case 35:
        return explain_old_driver(scene, std::move(seen));
    case 36: {
        const std::string runtime =
            scene.runtime ? "CUDA " + scene.runtime->version.major_minor() : "the runtime";
        return {"CE324",
                StepStatus::Fails,
                fmt::format("{}: {} lacks a call that {} makes", seen, scene.driver(), runtime),
                "minor version compatibility ends where a call was added to the driver later",
                StepFix{scene.driver_cuda ? fmt::format("a newer driver, or a build for CUDA {}",
                                                        scene.driver_cuda->str())
                                          : std::string("a newer driver"),
                        scene.driver_cuda ? "cudaenv pin " + scene.driver_cuda->str() : ""},
                ProbeVerdict::Fails};
    }
    case 46:
        return explain_unavailable(scene, rung, std::move(seen));
    case 100:
    case 101:
    case 802:
    case 803:
    case 804: {
        Finding finding = explain_driver_error(scene, rung, error);
        if (scene.driver_cuda && finding.verdict == ProbeVerdict::DriverBroken) {
            finding.verdict = ProbeVerdict::Fails; // the driver itself did start
        }
        return finding;
    }
    case 200:
    case 209:
        return explain_no_code(scene, rung, std::move(seen));
    case 214:
    case 220:
        return {"CE335",
                StepStatus::Fails,
                fmt::format("{}: {} of {} cannot be corrected", seen,
                            error == 214 ? "a memory error" : "an NVLink error",
                            scene.gpu(rung.gpu)),
                "the hardware reported it; results of this GPU are not to be trusted",
                StepFix{"stop its jobs, reset or replace it (as root)",
                        "nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT"},
                ProbeVerdict::Fails};
    case 221:
        return {"CE332",
                StepStatus::Fails,
                std::move(seen) + ": the driver's PTX compiler is not here",
                "libnvidia-ptxjitcompiler.so.1 belongs to the driver; in a container it comes with "
                "the compute capability",
                scene.in_container()
                    ? StepFix{"start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility", {}}
                    : StepFix{"install the rest of the driver's libraries",
                              "ldconfig -p | grep ptxjitcompiler"},
                ProbeVerdict::Fails};
    case 223:
        return {"CE333",
                StepStatus::Fails,
                std::move(seen) + ": compiling PTX is switched off",
                "CUDA_DISABLE_PTX_JIT is set",
                StepFix{"unset it", "unset CUDA_DISABLE_PTX_JIT"},
                ProbeVerdict::Fails};
    case 222:
        return {"CE330",
                StepStatus::Fails,
                fmt::format("{}: {} refuses this PTX{}", seen, scene.driver(),
                            rung.isa ? " " + one_line(rung.isa->str(), 12) : ""),
                rung.step == facts::ProbeStep::Build ||
                        rung.step == facts::ProbeStep::TorchExtension
                    ? "nvcc is newer than the driver's CUDA and made no machine code for this GPU"
                    : "a driver takes PTX of its own CUDA and of all older ones; one that refuses "
                      "this is damaged or very old",
                StepFix{"a newer driver, or an nvcc of the driver's CUDA that makes machine code",
                        scene.driver_cuda ? "cudaenv pin " + scene.driver_cuda->str() : ""},
                ProbeVerdict::Fails};
    case 304:
        return {"CE339",
                StepStatus::Fails,
                std::move(seen) + ": the kernel refused the driver something",
                "a device file without permission, /dev/nvidia-uvm missing, or a sandbox (seccomp, "
                "cgroup devices) or limit (ulimit -v, -l) in the way",
                StepFix{"see that you may read and write these", "ls -l /dev/nvidia*; ulimit -a"},
                ProbeVerdict::Fails};
    case 702:
        return {"CE337",
                StepStatus::Fails,
                fmt::format("{}: a kernel of a millisecond was ended by the time limit", seen),
                "a display runs on this GPU and its watchdog ended the kernel, or the GPU hangs",
                look_for_xid(),
                ProbeVerdict::Fails};
    case 700:
    case 710:
    case 714:
    case 715:
    case 716:
    case 717:
    case 718:
    case 719:
        return {"CE334",
                StepStatus::Fails,
                fmt::format("{}: {} broke on {}", seen, what_ran(rung.step), scene.gpu(rung.gpu)),
                rung.step <= facts::ProbeStep::PtxRuntime
                    ? "the GPU or its driver is at fault: memory, overheating, overclocking, or a "
                      "damaged driver"
                    : "a library's kernel faulted: its build, the driver, or the GPU",
                StepFix{"look for Xid lines of this time; compute-sanitizer names the access",
                        "sudo dmesg | grep -i xid"},
                ProbeVerdict::Fails};
    case 805:
    case 806:
    case 807:
    case 808:
    case 809:
        return {
            "CE319",
            StepStatus::Fails,
            std::move(seen) + ": the MPS server does not serve this process",
            "CUDA goes through MPS where a control daemon runs or CUDA_MPS_PIPE_DIRECTORY is "
            "set; it is full, of another version, or gone",
            StepFix{"ask whoever runs MPS here, or go without it", "unset CUDA_MPS_PIPE_DIRECTORY"},
            ProbeVerdict::Busy};
    case 999:
        return {"CE314",
                StepStatus::Fails,
                std::move(seen) + ": the driver failed without saying why",
                "often the GPU was lost on the way (with an Xid), or nvidia_uvm is damaged",
                look_for_xid(),
                ProbeVerdict::Fails};
    default:
        break;
    }
    return {"CE359",
            StepStatus::Fails,
            std::move(seen),
            rung.message.empty() ? "an answer that has no explanation of its own here"
                                 : one_line(rung.message, 160),
            StepFix{"look at what the kernel says", "sudo dmesg | grep -iE 'xid|nvrm' | tail"},
            ProbeVerdict::Fails};
}

namespace {

std::string signal_name(int signal) {
    switch (signal) {
    case 4:
        return "SIGILL";
    case 6:
        return "SIGABRT";
    case 7:
        return "SIGBUS";
    case 8:
        return "SIGFPE";
    case 9:
        return "SIGKILL";
    case 11:
        return "SIGSEGV";
    case 15:
        return "SIGTERM";
    case 31:
        return "SIGSYS";
    default:
        return fmt::format("signal {}", signal);
    }
}

// Whose code ran when the child was lost.
std::string whose_code(facts::ProbeStep step) {
    switch (step) {
    case facts::ProbeStep::Runtime:
        return "the environment's libcudart or the driver below it";
    case facts::ProbeStep::Nvrtc:
    case facts::ProbeStep::Cublas:
    case facts::ProbeStep::Cudnn:
    case facts::ProbeStep::Nccl:
        return "that library or the driver below it";
    case facts::ProbeStep::Build:
    case facts::ProbeStep::TorchExtension:
        return "the compiler or what it built";
    default:
        return "the driver";
    }
}

} // namespace

namespace {

Finding ending_itself(const Scene& scene, facts::ProbeStep step) {
    using Ending = facts::ProbeReport::Ending;
    const facts::ProbeReport& report = *scene.report;
    const auto word = facts::k_probe_steps.at(static_cast<std::size_t>(step));
    switch (report.ending) {
    case Ending::TimedOut:
        if (contains(report.failure, "does not die")) {
            return {"CE384",
                    StepStatus::Fails,
                    fmt::format("hung at {} and cannot be killed: stuck in the kernel", word),
                    "the kernel module does not come back (state D); its GPU may have fallen off "
                    "the bus",
                    StepFix{"look for Xid and NVRM lines; usually only a reboot helps",
                            "sudo dmesg | grep -iE 'xid|nvrm|hung' | tail"},
                    ProbeVerdict::TimedOut};
        }
        return {"CE380",
                StepStatus::Fails,
                fmt::format("hung at {}: {}", word, one_line(report.failure, 60)),
                fmt::format("{} hung: a GPU that is lost or overloaded, or a driver that waits",
                            whose_code(step)),
                StepFix{"look at the load and for Xid lines, then try again",
                        "nvidia-smi; sudo dmesg | grep -iE 'xid|nvrm' | tail"},
                ProbeVerdict::TimedOut};
    case Ending::Crashed: {
        Finding finding{
            "CE381",
            StepStatus::Fails,
            fmt::format("crashed at {} with {}", word,
                        report.signal ? signal_name(*report.signal) : "a signal"),
            fmt::format("{} broke; the probe runs in a process of its own, nothing else is hurt",
                        whose_code(step)),
            StepFix{"look at what the kernel says, and whether driver and libraries are whole",
                    "sudo dmesg | tail"},
            ProbeVerdict::Crashed};
        if (report.signal == 9) {
            finding.cause = "somebody killed it: the kernel for want of memory, or a job limit";
        } else if (report.signal == 31) {
            finding.cause = "a sandbox (seccomp) forbids a system call that the driver makes";
        } else if (report.signal == 4) {
            finding.cause =
                fmt::format("{} was built for another CPU, or is damaged", whose_code(step));
        }
        return finding;
    }
    case Ending::NotStarted:
        return {"CE382",
                StepStatus::Fails,
                "cudaenv-probe was not started: " + one_line(report.failure, 56),
                "the probe is a program of its own, installed beside cudaenvd",
                StepFix{"install cudaenv anew", {}},
                ProbeVerdict::Fails};
    case Ending::Finished:
    case Ending::Garbled:
        break;
    }
    return {
        "CE383",
        StepStatus::Fails,
        fmt::format("cudaenv-probe gave no whole answer at {}: {}", word,
                    report.failure.empty() ? "its end is missing" : one_line(report.failure, 44)),
        "it ended in the middle, or is of another version than cudaenvd",
        StepFix{"once more; where it stays, install cudaenv anew", {}},
        ProbeVerdict::Crashed};
}

// "libcudnn_ops.so.9" of the words that a library says of a part that it does not get.
std::string missing_part(std::string_view words) {
    if (!contains(words, "oad") && !contains(words, "cannot open")) {
        return {};
    }
    const auto end = words.find(".so");
    const auto begin = end == std::string_view::npos ? end : words.rfind("lib", end);
    const auto part = begin == std::string_view::npos ? std::string_view() : words.substr(begin);
    std::string_view name = part.substr(0, part.find_first_of(" ,;:'\"{}()"));
    name = name.substr(0, name.find_last_not_of('.') + 1); // the sentence's
    return contains(name, ".so") ? one_line(name, 40) : std::string();
}

} // namespace

Finding explain_ending(const Scene& scene, facts::ProbeStep step) {
    Finding finding = ending_itself(scene, step);
    const std::string words = last_words(*scene.report);
    if (words.empty()) {
        return finding;
    }
    const auto* const library = facts::probed_library(step);
    if (const std::string part = missing_part(words);
        library != nullptr && !part.empty() && finding.verdict == ProbeVerdict::Crashed) {
        // cuDNN opens its parts when it first needs them, and aborts where one is not there.
        facts::ProbeRung rung;
        rung.step = step;
        finding.cause = fmt::format("{} did not get {} and ended the process", library->name, part);
        finding.fix = bring_anew(scene, rung, "install it anew and whole, of one version");
    }
    finding.cause += "; its last words: " + words;
    return finding;
}

} // namespace cudaenv::plan::probe
