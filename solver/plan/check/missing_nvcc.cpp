#include "solver/plan/check/missing_nvcc.hpp"

#include "solver/plan/check/foreign_modules.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/origin.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::plan {

namespace {

// Come from indexes as source alone, and compile CUDA code when they are installed.
constexpr std::array<std::string_view, 4> k_built_from_source = {"causal-conv1d", "flash-attn",
                                                                 "mamba-ssm", "tinycudann"};

bool is_usable(const facts::Toolkit& toolkit) {
    return toolkit.nvcc && toolkit.problem.empty();
}

// Unknown is not missing: then it says yes.
bool may_have_nvcc(const CheckScene& scene) {
    return scene.host == nullptr || scene.environment == nullptr ||
           (scene.toolkit != nullptr && is_usable(*scene.toolkit)) ||
           std::ranges::any_of(scene.environment->toolkits, is_usable) ||
           std::ranges::any_of(scene.host->toolkits, is_usable);
}

Fix nvcc_fix(const CheckScene& scene, const FamilyMember& torch) {
    const auto& cuda = *torch.build.cuda;
    const auto text = fmt::format("an nvcc of CUDA {} into the environment", short_cuda(cuda));
    if (cuda.parts().size() > 1 && scene.inventory.conda_prefix &&
        cuda >= DottedVersion::of("11.3")) {
        return {text, conda_install(
                          scene, {"-c", fmt::format("nvidia/label/cuda-{}.0", cuda.major_minor()),
                                  "cuda-nvcc"})};
    }
    if (cuda.major() >= 13) {
        return {text, pip_install(scene, torch.distribution,
                                  {fmt::format("nvidia-cuda-nvcc=={}.*", short_cuda(cuda))})};
    }
    return {text + ", or NVIDIA's runfile with --toolkit, which needs no root", {}};
}

bool is_installed(const CheckScene& scene, std::string_view name) {
    const auto is_it = [&](const facts::Distribution& other) { return other.name == name; };
    return std::ranges::any_of(scene.inventory.distributions, is_it) ||
           std::ranges::any_of(scene.inventory.base, is_it);
}

struct Wanting {
    const facts::Distribution* distribution;
    Severity severity;
    std::string title;
    std::string path;
    std::string text;
};

std::optional<Wanting> wanting_of(const CheckScene& scene,
                                  const std::vector<ForeignModule>& foreign, std::uint32_t index) {
    const auto& distribution = scene.inventory.distributions[index];
    for (const auto& text : distribution.requires_dist) {
        const auto requirement = specs::Requirement::parse(text);
        if (!requirement || requirement->marker) {
            continue; // an extra, or another platform's
        }
        const auto name = requirement->normalized_name();
        if (std::ranges::find(k_built_from_source, name) != k_built_from_source.end() &&
            !is_installed(scene, name)) {
            return Wanting{&distribution, Severity::Warning,
                           fmt::format("{} requires {}, which has to be built, and no nvcc is here",
                                       distribution.name, name),
                           distribution.metadata, "requires " + text};
        }
    }
    if (origin_of(distribution) == facts::Origin::Wheel) {
        return std::nullopt;
    }
    for (const auto& one : foreign) {
        if (one.module->distribution == index && uses_cuda(*one.module)) {
            return Wanting{
                &distribution, Severity::Warning,
                fmt::format("{} has to be built again, and no nvcc is here", distribution.name),
                one.module->path, "compiled with CUDA, for what is no longer here"};
        }
    }
    if (origin_of(distribution) != facts::Origin::Editable) {
        return std::nullopt;
    }
    for (const auto& module : scene.extensions) {
        if (module.distribution == index && !module.in_build && uses_cuda(module)) {
            return Wanting{&distribution, Severity::Note,
                           fmt::format("{} is editable and has CUDA code, and no nvcc is here",
                                       distribution.name),
                           module.path, "compiled with CUDA"};
        }
    }
    return std::nullopt;
}

} // namespace

void find_missing_nvcc(const CheckScene& scene, std::vector<CheckFinding>& found) {
    if (may_have_nvcc(scene)) {
        return;
    }
    const auto torch = find_member(scene, "torch");
    if (!torch || torch->build.kind != BuildKind::Cuda || !torch->build.cuda) {
        return;
    }
    const auto foreign = foreign_modules(scene);
    for (std::uint32_t i = 0; i < scene.inventory.distributions.size(); ++i) {
        const auto wanting = wanting_of(scene, foreign, i);
        if (!wanting) {
            continue;
        }
        CheckFinding told;
        told.subject = wanting->distribution->name;
        told.finding = {"CE150",
                        wanting->severity,
                        wanting->title,
                        {{absolute_path(scene, wanting->path), 0, wanting->text}},
                        fmt::format("compiling it needs the nvcc of torch's CUDA, {}",
                                    short_cuda(*torch->build.cuda)),
                        nvcc_fix(scene, *torch)};
        found.push_back(std::move(told));
    }
}

} // namespace cudaenv::plan
