// CE113: compiled modules that the installed NumPy refuses.
#include "base/ranges.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/requirements.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace cudaenv::rules {

namespace {

// The newest of each line of NumPy 1 that has wheels for a Python of today.
constexpr auto k_numpy_1 =
    std::to_array<const char*>({"1.26.4", "1.25.2", "1.24.4", "1.23.5", "1.22.4", "1.21.6"});

// A NumPy that these modules and all requirements accept: "numpy<2,>=1.22"; empty if no NumPy does.
std::string wanted_numpy(const Requirements& requirements, const facts::Distribution& numpy,
                         const facts::NumpyModule& module) {
    if (!module.is_for_numpy_1) {
        return requirements.admits(numpy, module.least)
                   ? requirements.wanted_of(numpy, ">=" + module.least)
                   : std::string();
    }
    const bool any = std::ranges::any_of(
        k_numpy_1, [&](const char* version) { return requirements.admits(numpy, version); });
    return any ? requirements.wanted_of(numpy, "<2") : std::string();
}

// Modules of one distribution, or of several that the same NumPy serves.
struct ModuleGroup {
    std::string wanted;
    std::vector<const facts::NumpyModule*> modules;
};

void report_group(const CheckContext& context, const facts::Distribution& numpy,
                  const ModuleGroup& group, std::vector<CheckFinding>& findings) {
    const auto& all = context.inventory.distributions;
    const auto& first = *group.modules.front();
    const auto& distribution = all[first.distribution];
    std::set<std::uint32_t> distributions;
    bool by_conda = false;
    for (const auto* module : group.modules) {
        distributions.insert(module->distribution);
        by_conda = by_conda || context.ownership.of(module->distribution).owner == Owner::Conda;
    }
    std::string command;
    if (!by_conda) {
        command = group.wanted.empty() ? pip_install(context, &distribution,
                                                     {"--upgrade", pip_name(distribution.name)})
                                       : pip_install(context, &numpy, {group.wanted});
    }
    const auto more = distributions.size() - 1;
    auto found =
        report(context, "CE113", first.is_for_numpy_1 ? "numpy-1" : "newer", distribution.name,
               {{"requirer", title_of(distribution)},
                {"name", distribution.name},
                {"more", more == 0 ? std::string() : std::to_string(more)},
                {"numpy", numpy.version},
                {"least", first.least},
                {"upgrade", yes_if(group.wanted.empty())},
                {"command", command}});
    found.finding.evidence.push_back({absolute_path(context, numpy.metadata), 0, title_of(numpy)});
    std::set<std::uint32_t> quoted;
    for (const auto* module : group.modules) {
        found.files.push_back(module->path);
        if (quoted.insert(module->distribution).second) {
            found.finding.evidence.push_back(
                {absolute_path(context, module->path), 0,
                 title_of(all[module->distribution]) + ": " +
                     (module->is_for_numpy_1 ? "compiled for NumPy 1"
                                             : "compiled for NumPy " + module->least)});
        }
    }
    std::ranges::sort(found.files);
    findings.push_back(std::move(found));
}

} // namespace

void find_foreign_numpy_modules(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto* numpy =
        find_pointer(context.inventory.distributions, "numpy", &facts::Distribution::name);
    const auto markers = marker_environment(context);
    if (numpy == nullptr || !markers || context.numpy_modules.empty()) {
        return;
    }
    const Requirements requirements(context, *markers);
    std::vector<ModuleGroup> groups;
    for (const auto& module : context.numpy_modules) {
        auto wanted = wanted_numpy(requirements, *numpy, module);
        const auto same = std::ranges::find_if(groups, [&](const ModuleGroup& group) {
            return group.modules.front()->distribution == module.distribution ||
                   (!wanted.empty() && group.wanted == wanted &&
                    group.modules.front()->is_for_numpy_1 == module.is_for_numpy_1);
        });
        if (same == groups.end()) {
            groups.push_back({std::move(wanted), {&module}});
        } else {
            same->modules.push_back(&module);
        }
    }
    for (const auto& group : groups) {
        report_group(context, *numpy, group, findings);
    }
}

} // namespace cudaenv::rules
