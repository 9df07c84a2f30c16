// CE114 of a build/: what setuptools would install again although it is for another torch.
#include "solver/plan/check/finding_text.hpp"
#include "solver/plan/check/foreign_modules.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace cudaenv::plan {

void find_stale_builds(const CheckScene& scene, std::vector<CheckFinding>& found) {
    constexpr std::size_t k_most_evidence = 4;
    const auto first = found.size();
    const auto stale = stale_builds(scene);
    std::map<std::uint32_t, std::vector<const ForeignModule*>> grouped;
    for (const auto& one : stale) {
        grouped[one.module->distribution].push_back(&one);
    }
    for (const auto& [number, modules] : grouped) {
        const auto& distribution = scene.inventory.distributions[number];
        const auto& other = *modules.front();
        CheckFinding told;
        told.subject = distribution.name;
        told.finding = {
            "CE114",
            Severity::Warning,
            fmt::format("build/ of {} {} holds modules for another {} than is here",
                        distribution.name, distribution.version,
                        other.made_for == MadeFor::OtherCuda ? "CUDA" : "torch"),
            {},
            "setuptools installs what is there, and compiles nothing of which no source is newer: "
            "built again, it would stay as it is",
            rebuild(scene, distribution, other.made_for)};
        for (const auto* one : modules) {
            if (told.files.empty() || told.files.back() != one->module->path) {
                told.files.push_back(one->module->path);
            }
        }
        std::ranges::sort(told.files);
        for (const auto& file : told.files) {
            if (told.finding.evidence.size() < k_most_evidence) {
                told.finding.evidence.push_back(
                    {absolute_path(scene, file), 0, "no source there is newer"});
            }
        }
        found.push_back(std::move(told));
    }
    make_printable(found, first);
}

} // namespace cudaenv::plan
