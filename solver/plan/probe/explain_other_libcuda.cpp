// A libcuda that loads and is not this driver's own: a stub, cuda-compat's, or another version's.
#include "base/text.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan::probe {

namespace {

// Why the loader takes that libcuda, and how it comes to take another.
StepFix fix_for_place(const Scene& scene, const std::string& wanted) {
    if (auto fix = fix_by_library_path(scene, scene.libcuda, wanted)) {
        return std::move(*fix);
    }
    const std::string directory = directory_of(scene.libcuda);
    return {fmt::format("take {} out of /etc/ld.so.conf.d, then run ldconfig{}",
                        directory.empty() ? "its directory" : directory, wanted),
            "sudo ldconfig"};
}

} // namespace

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

} // namespace cudaenv::plan::probe
