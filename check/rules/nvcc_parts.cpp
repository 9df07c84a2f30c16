// CE134: nvcc from pip beside parts of another CUDA release. NVIDIA's wheels of CUDA 13 depend on
// each other without versions, so that `pip install nvidia-cuda-nvcc==13.0.88` installs the newest
// nvvm and crt; cicc then writes PTX that this ptxas refuses.
#include "base/ranges.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/install_text.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::rules {

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
