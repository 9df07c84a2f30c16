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

// "the probe's PTX for compute_50 runs": what became of the rung's own code.
std::string what_ran(const facts::ProbeRung& rung) {
    if (rung.result == facts::ProbeResult::Skipped) {
        return "nor has the probe";
    }
    const bool is_ptx = rung.architecture.starts_with("compute_");
    return fmt::format("the probe's {}{} runs", is_ptx ? "PTX" : "machine code",
                       rung.architecture.empty() ? "" : " for " + one_line(rung.architecture, 16));
}

std::string list_of(const knowledge::Architectures& code) {
    if (code.sass.empty()) {
        return "PTX only";
    }
    std::string text; // "sm_75, 80, 90"
    for (const ComputeCapability& one : code.sass) {
        text += text.empty() ? one.sm() : ", " + one.sm().substr(3);
    }
    return text;
}

constexpr int k_no_compiler = 221;
constexpr int k_switched_off = 223;

// The driver compiles what the runtime's CUDA writes.
bool ptx_runs(const Scene& scene) {
    const bool is_refused =
        std::any_of(scene.report->rungs.begin(), scene.report->rungs.end(), [](const auto& rung) {
            return rung.step == facts::ProbeStep::Ptx &&
                   rung.result == facts::ProbeResult::Failed &&
                   (rung.error == k_no_compiler || rung.error == k_switched_off);
        });
    return !is_refused &&
           (!scene.driver_cuda || !scene.runtime ||
            *scene.driver_cuda >= DottedVersion::of(scene.runtime->version.major_minor()));
}

// "12.x" is the newest of that major.
std::optional<DottedVersion> newest_release_of(std::string_view words) {
    std::optional<DottedVersion> newest;
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        if (words.ends_with(".x") ? words == std::to_string(release.major()) + ".x"
                                  : words == release.str()) {
            newest = release;
        }
    }
    return newest;
}

// An environment for that GPU, of the framework that is here: which build has it the resolver
// knows. Without one, of `cuda`, which has code for it.
std::string command_for(const Scene& scene, ComputeCapability gpu,
                        const std::optional<DottedVersion>& cuda) {
    const facts::FrameworkBuild* const framework = scene.framework();
    if (framework != nullptr && (framework->name == "torch" || framework->name == "tensorflow")) {
        return fmt::format("cudaenv resolve {} --gpu {}", framework->name, gpu.str());
    }
    return cuda ? "cudaenv pin " + cuda->major_minor() : std::string();
}

// Why the runtime's CUDA makes no machine code for this GPU, CE327 or CE326: too old for it, or too
// new. None where it does, or where that is not known.
std::optional<Finding> unserved_by_toolkit(const Scene& scene,
                                           std::optional<ComputeCapability> gpu) {
    if (!gpu || !scene.runtime) {
        return std::nullopt;
    }
    const auto code = knowledge::architectures_of_toolkit(scene.runtime->version);
    if (!code || code->sass.empty() || knowledge::serves_with_sass(*code, *gpu)) {
        return std::nullopt;
    }
    const auto generation = knowledge::generation_of(*gpu);
    const std::string called = generation ? " (" + generation->architecture + ")" : std::string();
    const std::string runtime = scene.runtime->version.major_minor();
    if (*gpu < code->sass.front()) {
        const std::string last =
            generation && generation->last_cuda ? *generation->last_cuda : std::string();
        return failure("CE327", {},
                       fmt::format("CUDA {} makes code for {} and newer; this is an older GPU{}",
                                   runtime, code->sass.front().sm(), called),
                       StepFix{last.empty()
                                   ? "a build for an older CUDA"
                                   : fmt::format("CUDA {} is the last with code for it", last),
                               command_for(scene, *gpu, newest_release_of(last))});
    }
    const auto first = generation ? generation->first_cuda : std::nullopt;
    return failure("CE326", {}, fmt::format("this GPU is newer than CUDA {}{}", runtime, called),
                   StepFix{first
                               ? fmt::format("CUDA {} is the first with code for it", first->str())
                               : "a build for a newer CUDA",
                           command_for(scene, *gpu, first)});
}

} // namespace

Finding explain_no_code(const Scene& scene, const facts::ProbeRung& rung, std::string seen) {
    Finding finding = failure(
        "CE328", {}, "the library was built for other GPUs, and has no PTX that this driver takes",
        StepFix{"a build whose list of GPUs has this one", "cudaenv resolve torch"});
    if (auto unserved = unserved_by_toolkit(scene, scene.capability(rung.gpu))) {
        finding = std::move(*unserved);
    }
    finding.detail = fmt::format("{}: no machine code for {}", seen, scene.gpu(rung.gpu));
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
    // What was only told of that build may be wrong, but not beyond what its CUDA can make.
    const auto bound = knowledge::architectures_of_toolkit(*build.cuda);
    const bool is_certain =
        (bound && !serves(*bound, *gpu, ptx_runs(scene))) ||
        std::none_of(codes.begin(), codes.end(), [](const auto* code) {
            return code->confidence == "derived" || code->confidence == "secondary";
        });
    Finding finding = failure(
        "CE329",
        fmt::format("torch {} has no code for {}; {}", one_line(build.version, 24), gpu->sm(),
                    what_ran(rung)),
        fmt::format("that build has code for {}; on this GPU it ends with \"no kernel image is "
                    "available\" (209)",
                    list_of(*codes.front())),
        StepFix{"a build whose list of GPUs has this one", command_for(scene, *gpu, {})});
    finding.machine_is_right = true;
    if (!is_certain) {
        finding.status = StepStatus::Warns;
        finding.verdict = ProbeVerdict::Warns;
        finding.cause = fmt::format("as far as is known that build has code for {}; where that is "
                                    "so, it ends with \"no kernel image is available\" (209)",
                                    list_of(*codes.front()));
    }
    return finding;
}

std::optional<Finding> explain_unserved_by_toolkit(const Scene& scene,
                                                   const facts::ProbeRung& rung) {
    const auto gpu = scene.capability(rung.gpu);
    auto finding = unserved_by_toolkit(scene, gpu);
    if (!finding) {
        return std::nullopt;
    }
    finding->machine_is_right = true;
    finding->detail = fmt::format("CUDA {} has no machine code for {}; {}",
                                  scene.runtime->version.major_minor(), gpu->sm(), what_ran(rung));
    if (*gpu < knowledge::architectures_of_toolkit(scene.runtime->version)->sass.front()) {
        finding->cause += fmt::format(
            ": its libraries end with 209 here, its nvcc and NVRTC do not know {}{}", gpu->sm(),
            rung.result == facts::ProbeResult::Ok ? "; the driver still runs what was built for it"
                                                  : "");
    } else if (ptx_runs(scene)) {
        finding->cause +=
            ": what brings PTX along may run, compiled when it is first started; what "
            "brings none ends with 209";
        finding->status = StepStatus::Warns;
        finding->verdict = ProbeVerdict::Warns;
    } else {
        finding->cause += ": it would have to run as PTX, which this driver refuses";
    }
    return finding;
}

} // namespace cudaenv::plan::probe
