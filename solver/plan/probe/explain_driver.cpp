// The driver: its library, cuInit, and why it shows no GPU.
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace cudaenv::plan::probe {

namespace {

// How to come by a driver here.
StepFix driver_to_install(const Scene& scene) {
    if (scene.on_wsl()) {
        return {
            "install NVIDIA's driver in Windows; WSL takes libcuda from there, Linux needs none",
            "wsl.exe --update"};
    }
    if (scene.in_container()) {
        return {"start the container with its GPUs, as with docker run --gpus all", {}};
    }
    const std::string distribution =
        scene.context->host != nullptr ? scene.context->host->distribution : std::string();
    if (distribution.starts_with("Debian")) {
        return {"install the driver (Debian's non-free component has it), then reboot",
                "sudo apt install nvidia-driver"};
    }
    if (distribution.starts_with("Ubuntu")) {
        return {"install the driver, then reboot", "sudo ubuntu-drivers install"};
    }
    return {"install NVIDIA's driver, then reboot; without root, ask whoever runs this machine",
            {}};
}

// Why the loader takes that libcuda, and how it comes to take another.
StepFix fix_for_place(const Scene& scene, const std::string& wanted) {
    const std::string directory = directory_of(scene.libcuda);
    const bool compat = is_compat(scene.libcuda);
    const auto entries = entries_that(*scene.context, [&](const std::string& entry) {
        const std::string_view trimmed =
            entry.ends_with('/') ? std::string_view(entry).substr(0, entry.size() - 1) : entry;
        return trimmed == directory || (compat && is_compat(entry));
    });
    if (!entries.empty()) {
        return {fmt::format("take {} out of LD_LIBRARY_PATH{}", join(entries, " and "), wanted),
                library_path_without(*scene.context, entries)};
    }
    return {fmt::format("take {} out of /etc/ld.so.conf.d, then run ldconfig{}",
                        directory.empty() ? "its directory" : directory, wanted),
            "sudo ldconfig"};
}

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

Finding explain_missing_driver(const Scene& scene, const facts::ProbeRung& rung) {
    if (auto closed = explain_closed_library(scene, rung)) {
        return std::move(*closed);
    }
    // The loader names what it misses: libcuda itself, or something that libcuda needs.
    const bool is_absent = rung.message.empty() || rung.result == facts::ProbeResult::Skipped ||
                           (contains(rung.message, "libcuda.so") &&
                            contains(rung.message, "cannot open shared object file") &&
                            contains(rung.message, "No such file"));
    if (!is_absent) {
        return failure(
            "CE302",
            rung.call == "dlsym" ? "libcuda lacks a function: " + one_line(rung.message, 56)
                                 : "libcuda does not load: " + loader_words(rung.message),
            "the file is damaged, of another architecture or very old, or misses a library of "
            "its own",
            StepFix{"install the driver's libraries anew, of the kernel module's version", {}},
            ProbeVerdict::DriverBroken);
    }
    Finding finding =
        failure("CE301", "no libcuda.so.1: there is no NVIDIA driver here",
                "programs load libcuda.so.1 from the driver; no toolkit or wheel brings it",
                driver_to_install(scene), ProbeVerdict::NoDriver);
    if (!scene.module || scene.on_wsl()) {
        return finding;
    }
    finding.detail = fmt::format("no libcuda.so.1 beside kernel module {}", scene.module->str());
    if (scene.in_container()) {
        finding.cause = "the container got the GPUs without the driver's compute libraries";
        finding.fix =
            StepFix{"start it with --gpus all and NVIDIA_DRIVER_CAPABILITIES=compute,utility", {}};
    } else {
        finding.cause = "the kernel module is loaded; the driver's libraries are not installed";
        finding.fix = StepFix{
            fmt::format("install the CUDA library of driver {}", scene.module->str()),
            scene.context->host->distribution.starts_with("Debian") ? "sudo apt install libcuda1"
                                                                    : ""};
    }
    return finding;
}

std::optional<Finding> explain_unfound_driver(const facts::ProbeRung& rung) {
    if (rung.found_by.empty() || rung.found_by == "loader") {
        return std::nullopt;
    }
    if (rung.found_by == "linker-name") {
        const std::string directory = directory_of(rung.path);
        return warning("CE300", "libcuda.so is found, libcuda.so.1 is not",
                       "programs of this environment load libcuda.so.1 and will not find it; "
                       "libcuda.so is the name to link against",
                       {"have the loader make that name (as root), or make a link of it in a "
                        "directory of LD_LIBRARY_PATH",
                        "sudo ldconfig" + (directory.empty() ? "" : " " + shell_word(directory))});
    }
    // WSL's libcuda.so.1 is a link into a directory of the Windows driver's, which changes.
    const std::string directory =
        rung.found_by == "wsl" ? std::string("/usr/lib/wsl/lib") : directory_of(rung.path);
    return warning(
        "CE300", one_line(directory, 56) + " has libcuda; the loader does not look there",
        "programs of this environment will not find libcuda.so.1",
        {"put that directory on the loader's path (as root), or in LD_LIBRARY_PATH",
         fmt::format("echo {} | sudo tee /etc/ld.so.conf.d/libcuda.conf && sudo ldconfig",
                     shell_word(directory))});
}

Finding explain_stub(const Scene& scene, std::string seen) {
    Finding finding =
        failure("CE303", std::move(seen) + ": this libcuda is a toolkit's stub, not a driver",
                "a stub is there to link against; found first at run time it hides the driver",
                std::nullopt, scene.module ? ProbeVerdict::DriverBroken : ProbeVerdict::NoDriver);
    const auto entries = entries_that(*scene.context, is_stub);
    if (!entries.empty()) {
        finding.fix = StepFix{fmt::format("take {} out of LD_LIBRARY_PATH", join(entries, " and ")),
                              library_path_without(*scene.context, entries)};
    } else {
        finding.fix = fix_for_place(scene, {});
    }
    return finding;
}

Finding explain_mismatch(const Scene& scene, std::string seen, int error) {
    Finding finding;
    finding.verdict = ProbeVerdict::DriverBroken;
    const std::string begin = seen.empty() ? seen : seen + ": ";
    const std::string library = scene.library           ? "libcuda " + scene.library->str()
                                : scene.libcuda.empty() ? std::string("libcuda")
                                                        : file_name(scene.libcuda);
    const std::string module = scene.module ? scene.module->str() : std::string();
    const std::string both = module.empty()
                                 ? begin + library + " is not of the kernel module's version"
                                 : fmt::format("{}{}, kernel module {}", begin, library, module);
    if (is_compat(scene.libcuda)) {
        if (error == 804) {
            finding.code = "CE307";
            finding.detail = both;
            finding.cause = "libcuda is cuda-compat's, which serves data-center GPUs only";
        } else {
            finding.code = "CE304";
            finding.detail = both;
            finding.cause = "libcuda is cuda-compat's, of another driver than this one";
        }
        finding.fix = fix_for_place(scene, ", so that the driver's own libcuda is found");
        return finding;
    }
    if (scene.library && scene.module && *scene.library > *scene.module) {
        finding.code = "CE305";
        finding.detail = both;
        finding.cause = "the driver was upgraded and the old kernel module is still loaded";
        finding.fix =
            StepFix{"reboot, or reload the module when nothing uses the GPUs", "sudo reboot"};
        return finding;
    }
    if (error == 804) {
        finding.code = "CE307";
        finding.detail = both;
        finding.cause = "a libcuda of another version than the kernel module's is found first: "
                        "cuda-compat on a GPU that it does not serve, or an upgrade without reboot";
        finding.fix = StepFix{"take compat directories out of LD_LIBRARY_PATH and ld.so.conf.d, "
                              "or reboot after an upgrade",
                              {}};
        return finding;
    }
    finding.code = "CE306";
    finding.detail = both;
    finding.cause = "libcuda and the kernel module must be of one version; this libcuda was left "
                    "over, comes from another package, or the driver was downgraded and the newer "
                    "module is still loaded until a reboot";
    const std::string directory = directory_of(scene.libcuda);
    const auto& entries = scene.context->library_path;
    if (!directory.empty() &&
        std::find(entries.begin(), entries.end(), directory) != entries.end()) {
        finding.fix = fix_for_place(scene, {});
    } else {
        finding.fix = StepFix{"install the driver's libraries of the module's version" +
                                  (module.empty() ? module : ", " + module),
                              "cat /proc/driver/nvidia/version"};
    }
    return finding;
}

std::optional<Finding> explain_working_mismatch(const Scene& scene) {
    // cuda-compat that works is what it is for: forward compatibility.
    if (!scene.library || !scene.module || *scene.library == *scene.module ||
        is_compat(scene.libcuda)) {
        return std::nullopt;
    }
    Finding finding = explain_mismatch(scene, {}, 803);
    finding.status = StepStatus::Warns;
    finding.verdict = ProbeVerdict::Warns;
    return finding;
}

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
        } else if (scene.context->device_files == false) {
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
        return failure(
            "CE313", std::move(seen) + ": NVSwitch is not set up",
            "on a machine with NVSwitch, CUDA waits for a fabric manager of the driver's "
            "version",
            StepFix{fmt::format("install nvidia-fabricmanager{} and start it",
                                scene.module ? " " + scene.module->str() : ""),
                    "sudo systemctl enable --now nvidia-fabricmanager"},
            ProbeVerdict::DriverBroken);
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
    return failure(
        "CE314", std::move(seen) + ": the driver does not start",
        "often nvidia_uvm is not loaded, or the GPU was lost (after suspend, or with an Xid)",
        StepFix{"load nvidia_uvm, then look at what the kernel says",
                "sudo modprobe nvidia_uvm; sudo dmesg | grep -iE 'xid|nvrm' | tail"},
        ProbeVerdict::DriverBroken);
}

} // namespace cudaenv::plan::probe
