// CUDA's error numbers wherever a rung meets them.
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

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

StepFix look_for_xid() {
    return {"look for Xid lines of this time", "sudo dmesg | grep -i xid"};
}

// What the step ran on the GPU.
std::string_view what_ran(facts::ProbeStep step) {
    switch (step) {
    case facts::ProbeStep::Library:
    case facts::ProbeStep::Driver:
    case facts::ProbeStep::Gpu:
    case facts::ProbeStep::Runtime:
        return "what was asked before any kernel";
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

// What the probe itself brought: at fault is never the code.
bool is_own_code(const facts::ProbeRung& rung) {
    return rung.step <= facts::ProbeStep::PtxRuntime;
}

std::string broke(const Scene& scene, const facts::ProbeRung& rung, std::string_view seen) {
    return fmt::format("{}: {} broke on {}", seen, what_ran(rung.step), scene.gpu(rung.gpu));
}

// Empty where no release is known that this driver gives.
std::string pin_command(const Scene& scene) {
    const auto newest = newest_cuda_of(scene);
    return newest ? "cudaenv pin " + newest->major_minor() : std::string();
}

} // namespace

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
        return explain_no_memory(scene, rung);
    case 3:
    case 4:
        return of_the_moment(
            failure("CE338",
                    std::move(seen) + (error == 3 ? ": the driver is not initialised"
                                                  : ": the driver is shutting down"),
                    error == 3 ? "cuInit did not succeed in this process, or a GPU was lost since"
                               : "the process was ending, or the driver was unloaded under it",
                    StepFix{"once more; where it stays, look at what the kernel says",
                            "sudo dmesg | grep -iE 'xid|nvrm' | tail"}));
    case 34:
        return explain_stub(scene, std::move(seen));
    case 35:
        return explain_old_driver(scene, std::move(seen));
    case 36: {
        const std::string runtime =
            scene.runtime ? "CUDA " + scene.runtime->version.major_minor() : "the runtime";
        const auto newest = newest_cuda_of(scene);
        return failure(
            "CE324",
            fmt::format("{}: {} lacks a call that {} makes", seen, scene.driver(), runtime),
            "minor version compatibility ends where a call was added to the driver later",
            StepFix{newest ? fmt::format("a newer driver, or a build for CUDA {}",
                                         newest->major_minor())
                           : std::string("a newer driver"),
                    pin_command(scene)});
    }
    case 46:
        return explain_unavailable(scene, rung);
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
        return of_the_moment(failure(
            "CE335",
            fmt::format("{}: {} of {} cannot be corrected", seen,
                        error == 214 ? "a memory error" : "an NVLink error", scene.gpu(rung.gpu)),
            "the hardware reported it; results of this GPU are not to be trusted",
            StepFix{"stop its jobs, reset or replace it (as root)",
                    "nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT"}));
    case 221:
        return of_the_moment(failure(
            "CE332", std::move(seen) + ": the driver's PTX compiler is not here",
            "libnvidia-ptxjitcompiler.so.1 belongs to the driver; in a container it comes with "
            "the compute capability",
            scene.in_container()
                ? StepFix{"start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility", {}}
                : StepFix{"install the rest of the driver's libraries",
                          "ldconfig -p | grep ptxjitcompiler"}));
    case 223:
        return failure("CE333", std::move(seen) + ": compiling PTX is switched off",
                       "CUDA_DISABLE_PTX_JIT is set",
                       StepFix{"unset it", "unset CUDA_DISABLE_PTX_JIT"});
    case 222:
        return failure(
            "CE330",
            fmt::format("{}: {} refuses this PTX{}", seen, scene.driver(),
                        rung.isa ? " " + one_line(rung.isa->str(), 12) : ""),
            rung.step == facts::ProbeStep::Build || rung.step == facts::ProbeStep::TorchExtension
                ? "nvcc is newer than the driver's CUDA and made no machine code for this GPU"
                : "a driver takes PTX of its own CUDA and of all older ones; one that refuses "
                  "this is damaged or very old",
            StepFix{"a newer driver, or an nvcc of the driver's CUDA that makes machine code",
                    pin_command(scene)});
    case 304:
        return of_the_moment(failure(
            "CE339", std::move(seen) + ": the kernel refused the driver something",
            "a device file without permission, /dev/nvidia-uvm missing, or a sandbox (seccomp, "
            "cgroup devices) or limit (ulimit -v, -l) in the way",
            StepFix{"see that you may read and write these", "ls -l /dev/nvidia*; ulimit -a"}));
    case 702:
        return of_the_moment(failure(
            "CE337", fmt::format("{}: a kernel of a millisecond was ended by the time limit", seen),
            "a display runs on this GPU and its watchdog ended the kernel, or the GPU hangs",
            look_for_xid()));
    case 700:
    case 716:
    case 717:
        return of_the_moment(
            failure("CE334", broke(scene, rung, seen),
                    is_own_code(rung)
                        ? "an access to memory was refused that this code does not make: the "
                          "GPU's memory or its page tables are damaged, or the driver is"
                        : "it read or wrote where nothing is allocated for it: its build, the "
                          "driver, or the GPU",
                    StepFix{"compute-sanitizer names the access; Xid 31 or 13 of this time the "
                            "engine",
                            "sudo dmesg | grep -i xid"}));
    case 719:
        return of_the_moment(
            failure("CE390", broke(scene, rung, seen),
                    is_own_code(rung)
                        ? "the GPU gave up in the middle without naming an access: heat, power, "
                          "overclocking, a fault of the hardware, or a damaged driver"
                        : "it was ended without an access being named: a fault in its build, or "
                          "a GPU that is too hot, short of power or damaged",
                    StepFix{"see heat, power and clocks, and Xid lines of this time",
                            "nvidia-smi -q -d TEMPERATURE,POWER,PERFORMANCE; sudo dmesg | grep "
                            "-i xid"}));
    case 710:
    case 714:
    case 715:
    case 718:
        return of_the_moment(failure(
            "CE391", broke(scene, rung, seen),
            is_own_code(rung)
                ? "the GPU executed something else than this code (an instruction, its "
                  "counter or its stack): code damaged in memory, or on its way there"
                : "an assertion of that code failed, or it is damaged or made for "
                  "another GPU",
            StepFix{is_own_code(rung) ? "test the GPU's memory, and look for Xid lines of this time"
                                      : "install it anew; then look for Xid lines of this time",
                    "nvidia-smi -q -d ECC,ROW_REMAPPER; sudo dmesg | grep -i xid"}));
    case 805:
    case 806:
    case 807:
    case 808:
    case 809:
        return failure(
            "CE319", std::move(seen) + ": the MPS server does not serve this process",
            "CUDA goes through MPS where a control daemon runs or CUDA_MPS_PIPE_DIRECTORY is "
            "set; it is full, of another version, or gone",
            StepFix{"ask whoever runs MPS here, or go without it", "unset CUDA_MPS_PIPE_DIRECTORY"},
            ProbeVerdict::Busy);
    case 999:
        return of_the_moment(
            failure("CE314", std::move(seen) + ": the driver failed without saying why",
                    "often the GPU was lost on the way (with an Xid), or nvidia_uvm is damaged",
                    look_for_xid()));
    default:
        break;
    }
    return explain_by_family(rung, error);
}

} // namespace cudaenv::plan::probe
