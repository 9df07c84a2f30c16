// The runtime against the driver: below its family's floor, or below the toolkit's own minimum.
#include "solver/knowledge/knowledge.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace cudaenv::plan::probe {

namespace {

std::string runtime_text(const Scene& scene) {
    return scene.runtime ? "CUDA " + scene.runtime->version.major_minor()
                         : std::string("this runtime");
}

// The newest torch wheel whose CUDA is at most `cuda`; of the same major if there is one, because
// an older major is rarely what the rest of an environment is for.
const knowledge::TorchVariant* newest_torch_for(const DottedVersion& cuda) {
    const auto rank = [&](const knowledge::TorchVariant& variant) {
        return std::tuple(variant.cuda.major() == cuda.major(), variant.torch, variant.cuda);
    };
    const knowledge::TorchVariant* best = nullptr;
    for (const knowledge::TorchRelease& release : knowledge::torch_releases()) {
        for (const knowledge::TorchVariant& variant : release.variants) {
            if (variant.wheel && variant.confidence.empty() && variant.cuda <= cuda &&
                (best == nullptr || rank(variant) > rank(*best))) {
                best = &variant;
            }
        }
    }
    return best;
}

std::string or_older_build(const Scene& scene, const std::optional<DottedVersion>& cuda,
                           std::string& command) {
    if (!cuda) {
        return {};
    }
    const facts::FrameworkBuild* const framework = scene.framework();
    if (framework == nullptr || framework->name == "torch") {
        if (const auto* variant = newest_torch_for(*cuda)) {
            command = "cudaenv resolve torch --cuda " + variant->cuda.major_minor();
            return fmt::format("torch {}+{}, or another build for CUDA {} or older",
                               variant->torch.str(), variant->tag, cuda->major_minor());
        }
    }
    if (framework != nullptr && framework->name == "tensorflow") {
        command = "cudaenv resolve tensorflow --cuda " + cuda->major_minor();
    }
    return fmt::format("a build for CUDA {} or older", cuda->major_minor());
}

std::optional<knowledge::DriverBound> floor_of(const DottedVersion& runtime) {
    return runtime.major() >= 11 ? knowledge::family_floor(runtime.major())
                                 : knowledge::toolkit_minimum_driver(runtime);
}

} // namespace

std::optional<DottedVersion> newest_cuda_of(const Scene& scene) {
    std::optional<DottedVersion> cuda = scene.driver_cuda;
    if (!cuda && scene.module) {
        if (const auto known = knowledge::cuda_of_driver(*scene.module)) {
            cuda = known->cuda;
        }
    }
    if (!cuda) {
        return std::nullopt;
    }
    std::optional<DottedVersion> newest;
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        if (release <= *cuda) {
            newest = release;
        }
    }
    return newest;
}

Finding explain_old_driver(const Scene& scene, std::string seen) {
    if (scene.libcuda.empty() && !scene.driver_cuda) {
        facts::ProbeRung none;
        Finding finding = explain_missing_driver(scene, none);
        finding.detail = std::move(seen) + ": there is no driver";
        return finding;
    }
    Finding finding;
    finding.code = "CE322";
    finding.verdict = ProbeVerdict::Fails;
    const auto bound = scene.runtime ? floor_of(scene.runtime->version) : std::nullopt;
    const auto& version = scene.library ? scene.library : scene.module;
    const bool is_below = bound && version
                              ? *version < bound->driver
                              : scene.runtime && scene.driver_cuda &&
                                    scene.driver_cuda->major() < scene.runtime->version.major();
    if (scene.runtime && !is_below && scene.driver_cuda &&
        *scene.driver_cuda >= DottedVersion::of(scene.runtime->version.major_minor())) {
        finding.code = "CE323";
        finding.detail = fmt::format("{}, though {} gives CUDA {}", seen, scene.driver(),
                                     scene.driver_cuda->str());
        finding.cause = "the runtime found another libcuda than the one that was tried: a stub, "
                        "or one of cuda-compat";
        finding.fix = StepFix{"see which libcuda comes first; none below stubs or compat may",
                              "ldconfig -p | grep libcuda.so.1; echo $LD_LIBRARY_PATH"};
        return finding;
    }
    finding.detail =
        scene.driver_cuda
            ? fmt::format("{} gives CUDA {}, too old for {}", scene.driver(),
                          scene.driver_cuda->str(), runtime_text(scene))
            : fmt::format("{}: {} is too old for {}", seen, scene.driver(), runtime_text(scene));
    const std::string family = scene.runtime
                                   ? (scene.runtime->version.major() >= 11
                                          ? fmt::format("CUDA {}.x", scene.runtime->version.major())
                                          : "CUDA " + scene.runtime->version.major_minor())
                                   : "this runtime";
    finding.cause = bound
                        ? fmt::format("{} runs on driver {} and newer", family, bound->driver.str())
                        : fmt::format("{} needs a newer driver", family);
    std::string command;
    const std::string older = or_older_build(scene, newest_cuda_of(scene), command);
    finding.fix = StepFix{
        fmt::format("driver {}{}",
                    bound ? bound->driver.str() + " or newer" : std::string("of that CUDA's time"),
                    older.empty() ? "" : ", or " + older),
        command};
    return finding;
}

Finding explain_ceiling(const Scene& scene, std::string seen) {
    const auto full =
        scene.runtime ? knowledge::toolkit_minimum_driver(scene.runtime->version) : std::nullopt;
    const auto newest = newest_cuda_of(scene);
    std::string what = "newer PTX does not";
    if (scene.driver_cuda) {
        what = fmt::format("PTX newer than CUDA {} does not", scene.driver_cuda->str());
    }
    return warning(
        "CE325", fmt::format("{}: machine code runs, {}", std::move(seen), what),
        "minor version compatibility covers machine code; what is compiled at run time (PTX, "
        "NVRTC, torch.compile) is refused with 222",
        StepFix{fmt::format("driver {}{}",
                            full ? full->driver.str() + " or newer"
                                 : std::string("of that CUDA's time"),
                            newest ? fmt::format(", or CUDA {}", newest->major_minor()) : ""),
                newest ? "cudaenv pin " + newest->major_minor() : ""});
}

std::optional<Finding> explain_other_driver(const Scene& scene, const facts::ProbeRung& rung) {
    if (!rung.cuda || !scene.driver_cuda || *rung.cuda == *scene.driver_cuda) {
        return std::nullopt;
    }
    return warning(
        "CE323",
        fmt::format("the runtime sees a driver for CUDA {}; the one that was tried gives "
                    "{}",
                    one_line(rung.cuda->str(), 16), scene.driver_cuda->str()),
        "the runtime found another libcuda than the one that was tried: a stub, or one "
        "of cuda-compat",
        {"see which libcuda comes first; none below stubs or compat may",
         "ldconfig -p | grep libcuda.so.1; echo $LD_LIBRARY_PATH"});
}

} // namespace cudaenv::plan::probe
