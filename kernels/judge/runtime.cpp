// The runtime against the driver, and the environment's code against the GPU. solver/knowledge
// judges; here it is said what follows for a rung.
#include "kernels/judge/scene.hpp"
#include "solver/knowledge/builds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::judge {

namespace {

using knowledge::Answer;
using knowledge::DriverFit;
using knowledge::GpuFit;

std::string short_version(const std::optional<DottedVersion>& version) {
    return version ? version->str() : std::string();
}

// A build that the driver runs: arguments "build" and "command"; empty where no CUDA release is
// known that it gives.
Arguments older_build(const Scene& scene) {
    const std::string newest = scene.newest_cuda();
    if (newest.empty()) {
        return {{"build", ""}, {"command", ""}};
    }
    const facts::FrameworkBuild* const framework = scene.framework();
    if (framework == nullptr || framework->name == "torch") {
        if (const auto* variant = knowledge::newest_torch_for(DottedVersion::of(newest))) {
            return {{"build", fmt::format("torch {}+{}, or another build for CUDA {} or older",
                                          variant->torch.str(), variant->tag, newest)},
                    {"command", "cudaenv resolve torch --cuda " + variant->cuda.major_minor()}};
        }
    }
    const bool is_tensorflow = framework != nullptr && framework->name == "tensorflow";
    return {{"build", fmt::format("a build for CUDA {} or older", newest)},
            {"command", is_tensorflow ? "cudaenv resolve tensorflow --cuda " + newest : ""}};
}

// The driver refuses to compile PTX, whatever its version.
bool ptx_is_off(const Scene& scene) {
    static constexpr int k_no_compiler = 221;
    static constexpr int k_switched_off = 223;
    return std::ranges::any_of(scene.report->rungs, [](const facts::ProbeRung& rung) {
        return rung.step == facts::ProbeStep::Ptx && rung.result == facts::ProbeResult::Failed &&
               (rung.error == k_no_compiler || rung.error == k_switched_off);
    });
}

// The driver compiles the PTX that the runtime's CUDA writes.
bool ptx_runs(const Scene& scene) {
    if (ptx_is_off(scene) || !scene.runtime) {
        return !ptx_is_off(scene);
    }
    const DriverFit fit = knowledge::driver_fit(scene.host(), scene.runtime->version).fit;
    return fit != DriverFit::MachineCode && fit != DriverFit::TooOld;
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

// "sm_75, 80, 90".
std::string list_of(const knowledge::Architectures& code) {
    std::string text;
    for (const ComputeCapability& one : code.sass) {
        text += text.empty() ? one.sm() : ", " + one.sm().substr(3);
    }
    return text.empty() ? "PTX only" : text;
}

// The release that "12.x" stands for is the newest of that major.
std::string release_of(std::string_view words) {
    std::string newest;
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        if (words.ends_with(".x") ? words == std::to_string(release.major()) + ".x"
                                  : words == release.str()) {
            newest = release.major_minor();
        }
    }
    return newest;
}

// An environment for that GPU, of the framework that is here: the resolver knows its builds.
// Without one, of `cuda`, which supports it.
std::string command_for(const Scene& scene, ComputeCapability gpu, std::string_view cuda) {
    const facts::FrameworkBuild* const framework = scene.framework();
    if (framework != nullptr && (framework->name == "torch" || framework->name == "tensorflow")) {
        return fmt::format("cudaenv resolve {} --gpu {}", framework->name, gpu.str());
    }
    const std::string release = release_of(cuda);
    return release.empty() ? release : "cudaenv pin " + release;
}

// Why the runtime's CUDA makes no machine code for this GPU: CE327 where it is too new, CE326 where
// it is too old for it. None where it does, or where that is unknown.
struct Unserved {
    std::string_view code;
    Arguments arguments;
};
std::optional<Unserved> unserved_by_toolkit(const Scene& scene, const facts::ProbeRung& rung) {
    const auto gpu = scene.capability(rung.gpu);
    if (!gpu || !scene.runtime) {
        return std::nullopt;
    }
    const auto judged = knowledge::toolkit_serves(scene.runtime->version, *gpu);
    if (judged.runs() != Answer::No) {
        return std::nullopt;
    }
    const auto code = knowledge::architectures_of_toolkit(scene.runtime->version);
    const auto generation = knowledge::generation_of(*gpu);
    return Unserved{judged.fit == GpuFit::TooOld ? "CE327" : "CE326",
                    {{"cuda", scene.runtime->version.major_minor()},
                     {"gpu", scene.gpu(rung.gpu)},
                     {"sm", gpu->sm()},
                     {"oldest", code ? code->sass.front().sm() : std::string()},
                     {"generation", generation ? generation->architecture : std::string()},
                     {"other", judged.other_cuda},
                     {"ran", what_ran(rung)},
                     {"runs", rung.result == facts::ProbeResult::Ok ? "yes" : ""},
                     {"command", command_for(scene, *gpu, judged.other_cuda)}}};
}

// The environment's torch was built without code for this GPU.
std::optional<Finding> unserved_by_torch(const Scene& scene, const facts::ProbeRung& rung) {
    const auto gpu = scene.capability(rung.gpu);
    const facts::FrameworkBuild* const build = scene.framework();
    if (!gpu || build == nullptr || build->name != "torch") {
        return std::nullopt;
    }
    const auto codes = knowledge::code_of_torch(*build);
    const facts::Host host = scene.host();
    const bool is_off = ptx_is_off(scene);
    bool is_certain = false;
    for (const knowledge::Architectures* const code : codes) {
        const auto judged = knowledge::build_serves(*build->cuda, code, *gpu, host);
        if (judged.runs() != Answer::No && !(is_off && judged.fit == GpuFit::Ptx)) {
            return std::nullopt;
        }
        is_certain = is_certain || judged.certain;
    }
    if (codes.empty()) {
        return std::nullopt;
    }
    Finding finding = found("CE329", is_certain ? "" : "uncertain",
                            {{"torch", one_line(build->version, 24)},
                             {"sm", gpu->sm()},
                             {"ran", what_ran(rung)},
                             {"list", list_of(*codes.front())},
                             {"command", command_for(scene, *gpu, {})}});
    finding.machine_is_right = true;
    return finding;
}

std::optional<Finding> unserved_by_runtime(const Scene& scene, const facts::ProbeRung& rung) {
    auto unserved = unserved_by_toolkit(scene, rung);
    if (!unserved) {
        return std::nullopt;
    }
    Finding finding = found(unserved->code,
                            unserved->code == "CE327" ? "kernel"
                            : ptx_runs(scene)         ? "ptx"
                                                      : "no-ptx",
                            std::move(unserved->arguments));
    finding.machine_is_right = true;
    return finding;
}

} // namespace

Finding explain_old_driver(const Scene& scene, const facts::ProbeRung& rung,
                           std::string_view code) {
    const std::string seen = refusal(rung);
    if (scene.libcuda.empty() && !scene.driver_cuda) {
        return explain_missing_driver(scene, {}, seen);
    }
    const auto judged = scene.runtime ? knowledge::driver_fit(scene.host(), scene.runtime->version)
                                      : knowledge::DriverJudgement();
    if (scene.driver_cuda &&
        (judged.fit == DriverFit::Full || judged.fit == DriverFit::BelowMinimum)) {
        return found(
            "CE323", "",
            {{"seen", seen}, {"driver", scene.driver()}, {"gives", scene.driver_cuda->str()}});
    }
    const std::string cuda = scene.runtime ? scene.runtime->version.major_minor() : std::string();
    const bool is_family = scene.runtime && knowledge::has_family(scene.runtime->version);
    std::string found_version;
    if (const auto at = rung.message.find("found version"); at != std::string::npos) {
        found_version = one_line(rung.message.substr(at, rung.message.find(')', at) - at), 24);
    }
    return found(
        code, "",
        Arguments{{"seen", seen},
                  {"driver", scene.driver()},
                  {"gives", short_version(scene.driver_cuda)},
                  {"runtime", cuda.empty() ? "this runtime" : "CUDA " + cuda},
                  {"family", cuda.empty() ? std::string("this runtime")
                             : is_family  ? fmt::format("CUDA {}.x", scene.runtime->version.major())
                                          : "CUDA " + cuda},
                  {"floor", judged.floor ? judged.floor->driver.str() : std::string()},
                  {"found", found_version}} +
            older_build(scene));
}

Finding explain_ceiling(const Scene& scene, std::string seen, std::string_view code) {
    const auto full = scene.runtime
                          ? knowledge::driver_fit(scene.host(), scene.runtime->version).minimum
                          : std::nullopt;
    return found(code, "",
                 {{"seen", std::move(seen)},
                  {"gives", short_version(scene.driver_cuda)},
                  {"full", full ? full->driver.str() : std::string()},
                  {"newest", scene.newest_cuda()}});
}

std::optional<Finding> explain_other_driver(const Scene& scene, const facts::ProbeRung& rung) {
    if (!rung.cuda || !scene.driver_cuda || *rung.cuda == *scene.driver_cuda) {
        return std::nullopt;
    }
    return found("CE323", "sees",
                 {{"seen", one_line(rung.cuda->str(), 16)}, {"gives", scene.driver_cuda->str()}});
}

Finding explain_no_code(const Scene& scene, const facts::ProbeRung& rung, const std::string& seen) {
    if (auto unserved = unserved_by_toolkit(scene, rung)) {
        return found(unserved->code, "",
                     std::move(unserved->arguments) + Arguments{{"seen", seen}});
    }
    return found("CE328", "", {{"seen", seen}, {"gpu", scene.gpu(rung.gpu)}});
}

std::optional<Finding> explain_code(const Scene& scene, const facts::ProbeRung& rung) {
    // A failure has priority over a warning.
    auto finding = unserved_by_torch(scene, rung);
    if (!finding || finding->status == StepStatus::Warns) {
        if (auto of_runtime = unserved_by_runtime(scene, rung)) {
            finding = std::move(of_runtime);
        }
    }
    if ((!finding || finding->status == StepStatus::Warns) &&
        rung.reason == facts::RungReason::ForcedPtx) {
        const bool is_known = rung.architecture.starts_with("compute_");
        finding = found("CE331", "",
                        {{"target", is_known ? one_line(rung.architecture, 16) : std::string()}});
    }
    return finding;
}

} // namespace cudaenv::judge
