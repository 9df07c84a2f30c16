// CE114 of a build/: modules for another torch that setuptools would install again.
#include "check/rules/evidence.hpp"
#include "check/rules/foreign_modules.hpp"
#include "check/rules/install_text.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>
#include <map>

namespace cudaenv::rules {

void find_stale_builds(const CheckContext& context, std::vector<CheckFinding>& findings) {
    constexpr std::size_t k_most_evidence = 4;
    const auto stale = stale_builds(context);
    std::map<std::uint32_t, std::vector<const ForeignModule*>> grouped;
    for (const auto& one : stale) {
        grouped[one.module->distribution].push_back(&one);
    }
    for (const auto& [number, modules] : grouped) {
        const auto& distribution = context.inventory.distributions[number];
        const auto& other = *modules.front();
        auto arguments = rebuild(context, distribution, other.made_for);
        arguments.emplace_back("module", distribution.name + ' ' + distribution.version);
        arguments.emplace_back("cuda", yes_if(other.made_for == MadeFor::OtherCuda));
        auto found = report(context, "CE114", "build", distribution.name, std::move(arguments));
        for (const auto* one : modules) {
            if (found.files.empty() || found.files.back() != one->module->path) {
                found.files.push_back(one->module->path);
            }
        }
        std::ranges::sort(found.files);
        for (const auto& file : found.files) {
            if (found.finding.evidence.size() < k_most_evidence) {
                found.finding.evidence.push_back(
                    {absolute_path(context, file), 0, "no source is newer"});
            }
        }
        findings.push_back(std::move(found));
    }
}

} // namespace cudaenv::rules
