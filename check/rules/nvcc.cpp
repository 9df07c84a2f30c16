#include "base/ranges.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/foreign_modules.hpp"
#include "check/rules/origin.hpp"
#include "check/rules/rules.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/knowledge/recipes.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::rules {

namespace {

bool is_usable(const facts::Toolkit& toolkit) {
    return toolkit.nvcc && toolkit.problem.empty();
}

// True where it is unknown.
bool may_have_nvcc(const CheckContext& context) {
    return context.host == nullptr || context.environment == nullptr ||
           (context.toolkit != nullptr && is_usable(*context.toolkit)) ||
           std::ranges::any_of(context.environment->toolkits, is_usable) ||
           std::ranges::any_of(context.host->toolkits, is_usable);
}

bool is_installed(const CheckContext& context, std::string_view name) {
    const auto is_it = [&](const facts::Distribution& other) { return other.name == name; };
    return std::ranges::any_of(context.inventory.distributions, is_it) ||
           std::ranges::any_of(context.inventory.base, is_it);
}

struct Wanting {
    const facts::Distribution* distribution;
    const char* situation;
    std::string needs; // a requirement
    std::string path;
    std::string text;
};

std::optional<Wanting> wanting_of(const CheckContext& context,
                                  const std::vector<ForeignModule>& foreign, std::uint32_t index) {
    const auto& distribution = context.inventory.distributions[index];
    for (const auto& text : distribution.requires_dist) {
        const auto requirement = specs::Requirement::parse(text);
        if (!requirement || requirement->marker) {
            continue; // an extra, or another platform's
        }
        const auto name = requirement->normalized_name();
        if (knowledge::is_compiled(name) && !is_installed(context, name)) {
            return Wanting{&distribution, "requirement", name, distribution.metadata,
                           "requires " + text};
        }
    }
    if (origin_of(distribution) == facts::Origin::Wheel) {
        return std::nullopt;
    }
    for (const auto& one : foreign) {
        if (one.module->distribution == index && uses_cuda(*one.module)) {
            return Wanting{&distribution,
                           "rebuild",
                           {},
                           one.module->path,
                           "compiled with CUDA, for what is no longer installed"};
        }
    }
    if (origin_of(distribution) != facts::Origin::Editable) {
        return std::nullopt;
    }
    for (const auto& module : context.extensions) {
        if (module.distribution == index && !module.in_build && uses_cuda(module)) {
            return Wanting{&distribution, "editable", {}, module.path, "compiled with CUDA"};
        }
    }
    return std::nullopt;
}

} // namespace

void find_missing_nvcc(const CheckContext& context, std::vector<CheckFinding>& findings) {
    if (may_have_nvcc(context)) {
        return;
    }
    const auto torch = find_member(context, "torch");
    if (!torch || torch->build.kind != BuildKind::Cuda || !torch->build.cuda) {
        return;
    }
    const auto foreign = foreign_modules(context);
    const auto recipe =
        knowledge::nvcc_recipe(*torch->build.cuda, target_of(context, torch->distribution));
    for (std::uint32_t i = 0; i < context.inventory.distributions.size(); ++i) {
        const auto wanting = wanting_of(context, foreign, i);
        if (!wanting) {
            continue;
        }
        auto found = report(context, "CE150", wanting->situation, wanting->distribution->name,
                            {{"name", wanting->distribution->name},
                             {"needs", wanting->needs},
                             {"cuda", knowledge::short_cuda(*torch->build.cuda)},
                             {"how", recipe.text},
                             {"recipe", recipe.command}});
        found.finding.evidence = {{absolute_path(context, wanting->path), 0, wanting->text}};
        findings.push_back(std::move(found));
    }
}

// CE134: nvcc from pip beside parts of another CUDA release. NVIDIA's wheels of CUDA 13 depend on
// each other without versions, so that `pip install nvidia-cuda-nvcc==13.0.88` installs the newest
// nvvm and crt; cicc then writes PTX that this ptxas refuses.

void find_nvcc_parts(const CheckContext& context, std::vector<CheckFinding>& findings) {
    constexpr auto k_parts = std::to_array<std::string_view>({"nvidia-nvvm", "nvidia-cuda-crt"});
    const auto& all = context.inventory.distributions;
    const auto nvcc = std::ranges::find(all, "nvidia-cuda-nvcc", &facts::Distribution::name);
    const auto release = nvcc == all.end() ? std::nullopt : release_of(nvcc->version);
    if (!release) {
        return;
    }
    std::vector<const facts::Distribution*> others;
    for (const auto& one : all) {
        const auto other = release_of(one.version);
        if (is_one_of(one.name, k_parts) && other && *other != *release) {
            others.push_back(&one);
        }
    }
    if (others.empty()) {
        return;
    }
    auto target = target_of(context, &*nvcc);
    target.kind = knowledge::Target::Kind::Venv; // by pip, whose nvcc it is
    auto found = report(context, "CE134", "", nvcc->name,
                        {{"nvcc", title_of(*nvcc)},
                         {"part", title_of(*others.front())},
                         {"release", release->str()},
                         {"command", knowledge::nvcc_recipe(*release, target).command}});
    found.finding.evidence.push_back({absolute_path(context, nvcc->metadata), 0, title_of(*nvcc)});
    for (const auto* one : others) {
        found.finding.evidence.push_back(
            {absolute_path(context, one->metadata), 0, title_of(*one)});
    }
    found.said_at_prompt = true;
    findings.push_back(std::move(found));
}

} // namespace cudaenv::rules
