#include "base/ranges.hpp"
#include "kernels/judge/scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::judge {

using facts::ProbeResult;
using facts::ProbeRung;
using facts::ProbeStep;

namespace {

// A line without a finding.
Finding line(StepStatus status, std::string title) {
    Finding finding;
    finding.status = status;
    finding.verdict = ProbeVerdict::Ok;
    finding.text.title = std::move(title);
    return finding;
}

Finding right(std::string detail) {
    return line(StepStatus::Ok, std::move(detail));
}

// The kernel computed right; the environment's own code may still lack this GPU.
Finding judge_code(const Scene& scene, const ProbeRung& rung) {
    auto finding = explain_code(scene, rung);
    return finding ? std::move(*finding) : right(detail_of(scene, rung));
}

Finding judge_right(const Scene& scene, const ProbeRung& rung) {
    switch (rung.step) {
    case ProbeStep::Library:
        if (auto finding = explain_unfound_driver(rung)) {
            return std::move(*finding);
        }
        if (auto finding = explain_working_mismatch(scene); finding && scene.driver_cuda) {
            return std::move(*finding);
        }
        break;
    case ProbeStep::Driver:
        // A stub says 0, a damaged driver anything; the first CUDA whose drivers count as here
        // is 5.
        if (!scene.driver_cuda || scene.driver_cuda->major() < 5 ||
            scene.driver_cuda->major() > 99 || scene.driver_cuda->minor() > 30) {
            return explain_implausible(
                scene, scene.driver_cuda
                           ? fmt::format("the driver gives CUDA \"{}\", which does not exist",
                                         one_line(scene.driver_cuda->str(), 24))
                           : "the driver does not say which CUDA it gives");
        }
        break;
    case ProbeStep::Gpu:
        if (rung.compute_mode == 2) {
            ProbeRung prohibited = rung;
            prohibited.call = k_compute_mode;
            return explain_left_alone(scene, prohibited);
        }
        break;
    case ProbeStep::Runtime:
        if (auto finding = explain_closed_runtime(scene, rung)) {
            return std::move(*finding);
        }
        if (scene.runtime && scene.driver_cuda &&
            *scene.driver_cuda < DottedVersion::of(scene.runtime->version.major_minor())) {
            return explain_ceiling(scene, fmt::format("{} on a driver for {}",
                                                      scene.runtime->version.major_minor(),
                                                      scene.driver_cuda->str()));
        }
        if (auto finding = explain_other_driver(scene, rung)) {
            return std::move(*finding);
        }
        break;
    case ProbeStep::Kernel:
        return judge_code(scene, rung);
    case ProbeStep::TorchExtension:
        if (auto finding = explain_build_warning(scene, rung)) {
            return std::move(*finding);
        }
        break;
    default:
        if (auto finding = explain_working_library(scene, rung)) {
            return std::move(*finding);
        }
        break;
    }
    return right(detail_of(scene, rung));
}

Finding judge_failed(const Scene& scene, const ProbeRung& rung) {
    const bool by_loader = rung.call.starts_with("dl") || (!rung.error && rung.error_name.empty());
    const auto error = cuda_error(rung);
    switch (rung.step) {
    case ProbeStep::Library:
        if (!by_loader && error) {
            return explain_driver_error(scene, rung, *error);
        }
        return explain_missing_driver(scene, rung);
    case ProbeStep::Driver:
        if (!by_loader) {
            return explain_driver_error(scene, rung, error.value_or(999));
        }
        break;
    case ProbeStep::PtxRuntime:
        if (error == 222) {
            return explain_ceiling(scene,
                                   fmt::format("PTX{} is refused (222)",
                                               rung.isa ? " " + rung.isa->str() : std::string()));
        }
        break;
    case ProbeStep::Nvrtc:
        if (error == 222 && (scene.machine_code_ran || is_one_of("machine-code", rung.checks))) {
            return explain_ceiling(scene, "NVRTC's PTX is refused (222)", "CE343");
        }
        break;
    case ProbeStep::Build:
    case ProbeStep::TorchExtension:
        return explain_build(scene, rung);
    default:
        break;
    }
    if (facts::probed_library(rung.step) != nullptr) {
        if (by_loader) {
            return explain_loading(scene, rung);
        }
        if (rung.step != ProbeStep::Runtime) { // its errors are CUDA's
            return explain_library_status(scene, rung);
        }
    }
    if (by_loader && !rung.message.empty()) {
        return explain_missing_driver(scene, rung); // a function of libcuda's
    }
    return explain_cuda_error(scene, rung, error.value_or(999));
}

// The name of the error, which people search for, where the line has room for it.
Finding with_name(Finding finding, const ProbeRung& rung) {
    constexpr std::size_t k_room = 86; // of 100 columns, beside the step and its mark
    const std::string name = one_line(rung.error_name, 48);
    std::string& title = finding.text.title;
    if (!name.empty() && !contains(title, name) && title.size() + name.size() + 3 <= k_room) {
        title += " (" + name + ")";
    }
    return finding;
}

Finding judge_wrong(const Scene& scene, const ProbeRung& rung) {
    if (facts::row_of(rung.step).subject == facts::RungSubject::Driver) {
        return explain_implausible(scene, rung.message.empty() ? "the driver's answer is invalid"
                                                               : one_line(rung.message, 80));
    }
    return found("CE336", "", {{"gpu", scene.gpu(rung.gpu)}, {"said", one_line(rung.message, 44)}});
}

Finding judge_skipped(const Scene& scene, const ProbeRung& rung, bool is_broken_below) {
    const std::string said = rung.message.empty() ? "not tried" : one_line(rung.message, 80);
    switch (rung.step) {
    case ProbeStep::Library:
        return explain_missing_driver(scene, rung);
    case ProbeStep::Gpu:
        if (!is_broken_below && !rung.gpu) {
            return explain_no_device(scene, "0 devices");
        }
        break;
    case ProbeStep::Kernel:
        // An older GPU than the probe has code for: the tables still know which CUDA lacks it.
        if (!is_broken_below && rung.gpu) {
            if (Finding finding = judge_code(scene, rung); finding.status != StepStatus::Ok) {
                return finding;
            }
        }
        break;
    case ProbeStep::Build:
    case ProbeStep::TorchExtension:
        return explain_untried_build(scene, rung);
    default:
        break;
    }
    // "no cuDNN was found"; the other reasons are a GPU's: alone, out of reach, broken by then.
    const bool is_absent = rung.step == ProbeStep::Runtime || rung.message.empty() ||
                           rung.reason == facts::RungReason::Absent;
    if (facts::is_library(rung.step) && !is_broken_below && is_absent) {
        return explain_missing_library(scene, rung);
    }
    return skipped(said);
}

std::string gpu_detail(const ProbeRung& rung) {
    std::string text = rung.name.empty() ? std::string("a GPU") : one_line(rung.name, 48);
    if (rung.compute_capability) {
        text += ", " + rung.compute_capability->sm();
    }
    if (rung.mig || rung.uuid.starts_with("MIG-")) {
        text += ", a MIG instance";
    }
    // Why it is only tried quickly.
    return rung.message.empty() ? text : text + "; " + one_line(rung.message, 48);
}

std::string runtime_detail(const Scene& scene) {
    const std::string version =
        scene.runtime ? scene.runtime->version.major_minor() : std::string("a CUDA runtime");
    const auto* const environment = scene.context->environment;
    const std::string path = scene.runtime ? scene.runtime->path : std::string();
    if (environment == nullptr) {
        return path.empty() ? version : version + " of " + one_line(directory_of(path), 60);
    }
    const bool is_own = path.starts_with(environment->prefix + "/") ||
                        std::ranges::any_of(environment->site_packages, [&](const auto& directory) {
                            return path.starts_with(directory + "/");
                        });
    return is_own || path.empty()
               ? version + " of this env"
               : version + ", not of this env: " + one_line(directory_of(path), 60);
}

std::string with_version(const ProbeRung& rung, std::string_view words) {
    return rung.version ? fmt::format("{}, {}", rung.version->str(), words) : std::string(words);
}

} // namespace

Finding skipped(std::string detail) {
    return line(StepStatus::Skipped, std::move(detail));
}

Finding judge_rung(const Scene& scene, const ProbeRung& rung, bool is_broken_below) {
    if (rung.result != ProbeResult::Ok && is_left_alone(rung)) {
        // A prohibited GPU was reported at its own rung.
        return is_broken_below ? skipped("left alone") : explain_left_alone(scene, rung);
    }
    switch (rung.result) {
    case ProbeResult::Ok:
        return judge_right(scene, rung);
    case ProbeResult::Failed:
        return with_closed_file(scene, rung, with_name(judge_failed(scene, rung), rung));
    case ProbeResult::Wrong:
        return judge_wrong(scene, rung);
    case ProbeResult::Skipped:
        return judge_skipped(scene, rung, is_broken_below);
    case ProbeResult::Unfinished:
        break;
    }
    return explain_ending(scene, rung.step);
}

std::string detail_of(const Scene& scene, const ProbeRung& rung) {
    const std::string_view done = facts::row_of(rung.step).done;
    switch (rung.step) {
    case ProbeStep::Library:
        // A broken link that comes before it is passed over.
        return (rung.path.empty() ? "libcuda.so.1" : file_name(rung.path)) +
               (rung.message.empty() ? "" : "; " + one_line(rung.message, 60));
    case ProbeStep::Driver: {
        const auto& version = rung.version    ? rung.version
                              : scene.library ? scene.library
                                              : scene.module;
        return fmt::format("{} gives CUDA {}", version ? version->str() : "the driver",
                           scene.driver_cuda->str());
    }
    case ProbeStep::Gpu:
        return gpu_detail(rung);
    case ProbeStep::Runtime:
        return runtime_detail(scene);
    case ProbeStep::Kernel: {
        const auto capability = scene.capability(rung.gpu);
        if (rung.architecture.starts_with("compute_")) {
            return fmt::format("PTX for {} compiled by the driver, result correct",
                               one_line(rung.architecture, 16));
        }
        const std::string made_for = !rung.architecture.empty() ? one_line(rung.architecture, 16)
                                     : capability               ? capability->sm()
                                                                : std::string("this GPU");
        return fmt::format("machine code for {}, result correct", made_for);
    }
    case ProbeStep::Ptx:
        return fmt::format("PTX{} compiled by the driver, result correct",
                           rung.isa ? " " + rung.isa->str() : "");
    case ProbeStep::PtxRuntime:
        return fmt::format("PTX{}{} accepted, result correct",
                           rung.isa ? " " + rung.isa->str() : "",
                           scene.runtime ? " of CUDA " + scene.runtime->version.major_minor() : "");
    case ProbeStep::Cudnn:
        return with_version(rung, rung.cuda ? fmt::format("for CUDA {}, {}", rung.cuda->str(), done)
                                            : std::string(done));
    case ProbeStep::Nccl:
        return with_version(rung, rung.devices
                                      ? fmt::format("{}, over {} GPUs", done, *rung.devices)
                                      : std::string(done));
    case ProbeStep::Build:
        return (rung.version ? fmt::format("nvcc {}: ", rung.version->str()) : std::string()) +
               std::string(done);
    default:
        break;
    }
    return facts::is_library(rung.step) ? with_version(rung, done) : std::string(done);
}

} // namespace cudaenv::judge
