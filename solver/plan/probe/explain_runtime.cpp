// The runtime against the driver, and the GPU against both: the three checks.
#include "base/text.hpp"
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

// What the environment's torch has code for; empty where that is not known.
std::vector<const knowledge::Architectures*> code_of_torch(const Scene& scene) {
    const facts::FrameworkBuild* const build = scene.framework();
    std::vector<const knowledge::Architectures*> found;
    if (build == nullptr || build->name != "torch") {
        return found;
    }
    const auto plus = build->version.find('+');
    const auto version = DottedVersion::parse(build->version.substr(0, plus));
    const std::string tag =
        plus == std::string::npos ? std::string() : build->version.substr(plus + 1);
    if (!version || (!tag.empty() && !tag.starts_with("cu"))) {
        return found; // built from source, say: 1.12.0a0+git1234
    }
    for (const knowledge::TorchRelease& release : knowledge::torch_releases()) {
        for (const knowledge::TorchVariant& variant : release.variants) {
            if (release.torch != *version || variant.cuda != *build->cuda ||
                (!tag.empty() && variant.tag != tag)) {
                continue;
            }
            if (variant.wheel_architectures) {
                found.push_back(&*variant.wheel_architectures);
            }
            // conda's version says no tag.
            if (tag.empty() && variant.conda_architectures) {
                found.push_back(&*variant.conda_architectures);
            }
        }
    }
    return found;
}

bool serves(const knowledge::Architectures& code, ComputeCapability gpu, bool ptx_runs) {
    return knowledge::serves_with_sass(code, gpu) ||
           (ptx_runs && knowledge::serves_with_ptx(code, gpu));
}

std::string list_of(const knowledge::Architectures& code) {
    if (code.sass.empty()) {
        return "PTX only";
    }
    return code.sass.size() == 1
               ? code.sass.front().sm()
               : fmt::format("{} to {}", code.sass.front().sm(), code.sass.back().sm());
}

bool ptx_runs(const Scene& scene) {
    return !scene.driver_cuda || !scene.runtime ||
           *scene.driver_cuda >= DottedVersion::of(scene.runtime->version.major_minor());
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

Finding explain_no_code(const Scene& scene, const facts::ProbeRung& rung, std::string seen) {
    Finding finding;
    finding.code = "CE328";
    finding.detail = fmt::format("{}: no machine code for {}", seen, scene.gpu(rung.gpu));
    finding.cause = "the library was built for other GPUs, and has no PTX that this driver takes";
    finding.fix = StepFix{"a build whose list of GPUs has this one", "cudaenv resolve torch"};
    const auto gpu = scene.capability(rung.gpu);
    if (!gpu || !scene.runtime) {
        return finding;
    }
    const auto generation = knowledge::generation_of(*gpu);
    const auto code = knowledge::architectures_of_toolkit(scene.runtime->version);
    const std::string runtime = scene.runtime->version.major_minor();
    if (!code || serves(*code, *gpu, false)) {
        return finding;
    }
    if (!code->sass.empty() && *gpu < code->sass.front()) {
        finding.code = "CE327";
        finding.cause = fmt::format("CUDA {} makes code for {} and newer; this is an older GPU{}",
                                    runtime, code->sass.front().sm(),
                                    generation ? " (" + generation->architecture + ")" : "");
        const std::string last =
            generation && generation->last_cuda ? *generation->last_cuda : std::string();
        // "12.x" is the newest of that major.
        std::optional<DottedVersion> newest;
        for (const DottedVersion& release : knowledge::cuda_releases()) {
            const bool fits = last.ends_with(".x") ? last == std::to_string(release.major()) + ".x"
                                                   : last == release.str();
            if (fits) {
                newest = release;
            }
        }
        finding.fix =
            StepFix{last.empty() ? "a build for an older CUDA"
                                 : fmt::format("CUDA {} is the last with code for it", last),
                    newest ? "cudaenv resolve torch --cuda " + newest->str() : ""};
        return finding;
    }
    finding.code = "CE326";
    finding.cause = fmt::format("this GPU is newer than CUDA {}{}", runtime,
                                generation ? " (" + generation->architecture + ")" : "");
    finding.fix = StepFix{"a build for a newer CUDA", {}};
    if (generation && generation->first_cuda) {
        finding.fix = StepFix{
            fmt::format("CUDA {} is the first with code for it", generation->first_cuda->str()),
            "cudaenv resolve torch --cuda " + generation->first_cuda->str()};
    }
    return finding;
}

std::optional<Finding> explain_forced_ptx(const facts::ProbeRung& rung) {
    if (!contains(rung.message, "CUDA_FORCE_PTX_JIT is set")) {
        return std::nullopt;
    }
    return warning(
        "CE331",
        fmt::format("machine code is passed over; PTX{} ran, result right",
                    rung.architecture.starts_with("compute_")
                        ? " for " + one_line(rung.architecture, 16)
                        : std::string()),
        "CUDA_FORCE_PTX_JIT is set: the driver compiles PTX instead, which starts "
        "slowly, and libraries without PTX fail with 209",
        {"unset it; it is for trying code on GPUs of later", "unset CUDA_FORCE_PTX_JIT"});
}

std::optional<Finding> explain_unserved(const Scene& scene, const facts::ProbeRung& rung) {
    const auto gpu = scene.capability(rung.gpu);
    if (!gpu) {
        return std::nullopt;
    }
    const auto codes = code_of_torch(scene);
    const bool none_serves =
        !codes.empty() && std::none_of(codes.begin(), codes.end(), [&](const auto* code) {
            return serves(*code, *gpu, ptx_runs(scene));
        });
    if (!none_serves) {
        return std::nullopt;
    }
    const facts::FrameworkBuild& build = *scene.framework();
    return warning(
        "CE329",
        fmt::format("machine code for {} runs; torch {} has none for it", gpu->sm(),
                    one_line(build.version, 24)),
        fmt::format("that build has code for {}; on this GPU it ends with \"no kernel "
                    "image is available\" (209)",
                    list_of(*codes.front())),
        {"a build whose list of GPUs has this one", "cudaenv resolve torch --gpu " + gpu->str()});
}

} // namespace cudaenv::plan::probe
