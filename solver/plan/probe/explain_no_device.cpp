// Why a driver that starts shows no GPU.
#include "base/text.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace cudaenv::plan::probe {

namespace {

// The first GPU that CUDA_VISIBLE_DEVICES names is certainly not here.
bool names_absent_gpu(const Scene& scene) {
    const auto& host = scene.context->host;
    if (!scene.context->visible_devices || host == nullptr || host->gpus.empty()) {
        return false;
    }
    const std::string& value = *scene.context->visible_devices;
    const std::string_view first = trim(split(value, ',').front());
    unsigned ordinal = 0;
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), ordinal);
    if (error == std::errc{} && end == first.data() + first.size()) {
        return ordinal >= host->gpus.size();
    }
    if (!first.starts_with("GPU-")) {
        return false; // MIG instances are not among the host's facts
    }
    return std::none_of(host->gpus.begin(), host->gpus.end(), [&](const facts::Gpu& gpu) {
        // A beginning of the UUID will do, and one that is unknown may be it.
        return gpu.uuid.empty() || gpu.uuid.starts_with(first);
    });
}

// GPUs in MIG mode are shown by their instances only; one without it would be shown, unless
// CUDA_VISIBLE_DEVICES names another.
bool mig_hides(const Scene& scene) {
    const facts::Host* const host = scene.context->host;
    if (host == nullptr || host->gpus.empty()) {
        return false;
    }
    const auto has_mig = [](const facts::Gpu& gpu) { return gpu.mig; };
    return scene.context->visible_devices
               ? std::any_of(host->gpus.begin(), host->gpus.end(), has_mig)
               : std::all_of(host->gpus.begin(), host->gpus.end(), has_mig);
}

bool hides_all(const Scene& scene) {
    if (!scene.context->visible_devices) {
        return false;
    }
    const std::string& value = *scene.context->visible_devices;
    const std::string_view first = trim(split(value, ',').front());
    return first.empty() || first.starts_with('-') || first == "none" || first == "void" ||
           first == "NoDevFiles";
}

} // namespace

Finding explain_no_device(const Scene& scene, std::string seen) {
    Finding finding;
    finding.verdict = ProbeVerdict::NoGpu;
    const facts::Host* const host = scene.context->host;
    if (hides_all(scene)) {
        finding.code = "CE308";
        const std::string value = one_line(*scene.context->visible_devices, 24);
        finding.detail =
            value.empty() ? seen + ": an empty CUDA_VISIBLE_DEVICES hides every GPU"
                          : fmt::format("{}: CUDA_VISIBLE_DEVICES={} hides every GPU", seen, value);
        finding.cause = "CUDA shows the GPUs that CUDA_VISIBLE_DEVICES names, and it names none";
        finding.fix = StepFix{"show them again", "unset CUDA_VISIBLE_DEVICES"};
        return finding;
    }
    if (names_absent_gpu(scene)) {
        finding.code = "CE312";
        finding.detail = fmt::format("{}: CUDA_VISIBLE_DEVICES={} names no GPU of this machine",
                                     seen, one_line(*scene.context->visible_devices, 24));
        finding.cause = fmt::format("this machine has {} GPU{}, counted from 0; the list ends at "
                                    "the first that is not here",
                                    host->gpus.size(), host->gpus.size() == 1 ? "" : "s");
        finding.fix = StepFix{"name GPUs that are here; nvidia-smi -L lists them",
                              "unset CUDA_VISIBLE_DEVICES"};
        return finding;
    }
    if (auto closed = explain_closed_device(scene, seen)) {
        return std::move(*closed);
    }
    const bool has_gpu = host != nullptr && !host->gpus.empty();
    if (mig_hides(scene)) {
        finding.code = "CE318";
        finding.detail = std::move(seen) + ": MIG is on and no instance is usable";
        finding.cause = "a GPU in MIG mode is used through its instances; none is made, or none "
                        "is shown to you";
        finding.fix =
            StepFix{"make an instance (as root), or have MIG turned off", "nvidia-smi mig -lgip"};
        return finding;
    }
    if (scene.in_container() && scene.context->device_files != true) {
        finding.code = "CE309";
        finding.detail = std::move(seen) + ": this container was given no GPU";
        finding.cause = "there is no /dev/nvidia* in a container that was started without GPUs";
        finding.fix = StepFix{"start it again with them, as with docker run --gpus all", {}};
        return finding;
    }
    if (has_gpu || scene.module || scene.context->device_files == false) {
        finding.code = "CE310";
        finding.cause = "the driver sees no GPU that it can use: it may have fallen off the bus";
        finding.fix = StepFix{"look for Xid and NVRM lines", "sudo dmesg | grep -iE 'xid|nvrm'"};
        if (!scene.module && !scene.on_wsl()) {
            finding.cause = "NVIDIA's kernel module is not loaded";
            finding.fix = StepFix{"load it; dmesg says why where that fails",
                                  "sudo modprobe nvidia && sudo dmesg | tail"};
            if (!has_gpu) {
                finding.code = "CE311"; // no GPU on the bus: see below
            }
        } else if (scene.on_wsl() && scene.context->device_files == false) {
            finding.cause = "WSL shows the GPU as /dev/dxg, which is missing: WSL 1, an old WSL, "
                            "or no driver of NVIDIA's in Windows";
            finding.fix = StepFix{"update WSL, and NVIDIA's driver in Windows; WSL 1 has no GPUs "
                                  "(wsl.exe --set-version)",
                                  "wsl.exe --update"};
        } else if (scene.context->device_files != false) {
            finding.of_the_moment = true; // /proc shows a GPU that is lost, and one that is back
        } else {
            finding.cause = "the kernel module is loaded and /dev/nvidia* are missing";
            finding.fix = StepFix{"make them", "sudo nvidia-modprobe -c 0 -u"};
        }
        if (finding.code == "CE310") {
            finding.detail = std::move(seen) + ": the driver does not reach the GPU";
            return finding;
        }
    }
    finding.code = "CE311";
    finding.detail = std::move(seen) + ": no NVIDIA GPU on this machine";
    finding.cause = "the driver's library is here; no kernel module is loaded and no GPU was found";
    finding.fix = StepFix{"run on a machine with a GPU; where lspci shows one, load the module",
                          "lspci -d 10de: | grep . && sudo modprobe nvidia"};
    if (scene.on_wsl()) {
        finding.cause = "the driver's library is here, and Windows shows WSL no GPU";
        finding.fix = StepFix{"update WSL, and NVIDIA's driver in Windows", "wsl.exe --update"};
    }
    return finding;
}

} // namespace cudaenv::plan::probe
