#include "kernels/judge/scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::judge {

using facts::ProbeRung;
using facts::ProbeStep;

namespace {

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
