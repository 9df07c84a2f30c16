// The third check: is there code for the GPU, in the runtime's CUDA and in the framework's build?
#include "solver/knowledge/knowledge.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan::probe {

namespace {

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
