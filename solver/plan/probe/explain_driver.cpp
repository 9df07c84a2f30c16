// What the driver's own calls answer before there is a context.
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

namespace cudaenv::plan::probe {

Finding explain_implausible(const Scene& scene, std::string seen) {
    return failure(
        "CE315", std::move(seen),
        "libcuda answers and makes no sense: it is no driver of NVIDIA's, or a damaged one",
        StepFix{scene.libcuda.empty() ? std::string("see which libcuda is loaded")
                                      : "see where this comes from: " + one_line(scene.libcuda, 80),
                "ldconfig -p | grep libcuda.so.1"},
        ProbeVerdict::DriverBroken);
}

Finding explain_driver_error(const Scene& scene, const facts::ProbeRung& rung, int error) {
    std::string seen = refusal(rung);
    if (error == 34 || (is_stub(scene.libcuda) && error != 100)) {
        return explain_stub(scene, std::move(seen));
    }
    switch (error) {
    case 100:
        return explain_no_device(scene, std::move(seen));
    case 101: {
        Finding finding = explain_no_device(scene, seen);
        if (finding.code != "CE308" && finding.code != "CE312") {
            finding =
                failure("CE312", std::move(seen) + ": a GPU was named that is not there",
                        "CUDA_VISIBLE_DEVICES, or the program, names a GPU beyond those that are "
                        "visible",
                        StepFix{"name GPUs that are here; nvidia-smi -L lists them",
                                scene.context->visible_devices ? "unset CUDA_VISIBLE_DEVICES"
                                                               : "nvidia-smi -L"},
                        ProbeVerdict::NoGpu);
        }
        return finding;
    }
    case 802:
        return of_the_moment(
            failure("CE313", std::move(seen) + ": NVSwitch is not set up",
                    "on a machine with NVSwitch, CUDA waits for a fabric manager of the driver's "
                    "version",
                    StepFix{fmt::format("install nvidia-fabricmanager{} and start it",
                                        scene.module ? " " + scene.module->str() : ""),
                            "sudo systemctl enable --now nvidia-fabricmanager"},
                    ProbeVerdict::DriverBroken));
    case 803:
    case 804:
        return explain_mismatch(scene, std::move(seen), error);
    default:
        break;
    }
    if (error == 3 || error == 304 || error == 999) {
        if (auto closed = explain_closed_device(scene, seen)) {
            return std::move(*closed);
        }
    }
    constexpr int k_unknown = 999; // of a driver that does not start there is more to say
    if (Finding finding = explain_cuda_error(scene, rung, error);
        error != k_unknown && finding.code != k_unexplained) {
        if (finding.verdict == ProbeVerdict::Fails) {
            finding.verdict = ProbeVerdict::DriverBroken;
        }
        return finding;
    }
    return of_the_moment(failure(
        "CE314", std::move(seen) + ": the driver does not start",
        "often nvidia_uvm is not loaded, or the GPU was lost (after suspend, or with an Xid)",
        StepFix{"load nvidia_uvm, then look at what the kernel says",
                "sudo modprobe nvidia_uvm; sudo dmesg | grep -iE 'xid|nvrm' | tail"},
        ProbeVerdict::DriverBroken));
}

} // namespace cudaenv::plan::probe
