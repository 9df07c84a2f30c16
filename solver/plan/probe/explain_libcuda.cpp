// The driver's library as a file: it is not there, does not load, or lies where programs do not
// look.
#include "base/shell_word.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

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

// There, and no library that loads. One that LD_LIBRARY_PATH brings hides the driver's own.
Finding explain_broken_libcuda(const Scene& scene, const facts::ProbeRung& rung) {
    Finding finding = failure(
        "CE302",
        rung.call == "dlsym" ? "libcuda lacks a function: " + one_line(rung.message, 56)
                             : "libcuda does not load: " + loader_words(rung.message),
        "the file is damaged, of another architecture or very old, or misses a library of its own",
        StepFix{"install the driver's libraries anew, of the kernel module's version", {}},
        ProbeVerdict::DriverBroken);
    if (rung.call == "dlsym") {
        return finding;
    }
    finding.of_the_moment = true; // what it needs may come from anywhere
    if (std::string fault = fault_of_file(rung); !fault.empty()) {
        finding.cause = std::move(fault);
        finding.of_the_moment = false; // that file will be another
    } else if (!rung.path.empty()) {
        finding.cause = fmt::format("{} is there; {}", one_line(rung.path, 120), finding.cause);
    }
    if (auto fix = fix_by_library_path(scene, rung.path, ", so that the driver's own is found")) {
        finding.fix = std::move(*fix);
    }
    return finding;
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
        return explain_broken_libcuda(scene, rung);
    }
    Finding finding =
        failure("CE301", "no libcuda.so.1: there is no NVIDIA driver here",
                "programs load libcuda.so.1 from the driver; no toolkit or wheel brings it",
                driver_to_install(scene), ProbeVerdict::NoDriver);
    if (!scene.module || scene.on_wsl()) {
        return with_closed_place(scene, std::move(finding));
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
    return with_closed_place(scene, std::move(finding));
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

} // namespace cudaenv::plan::probe
