// CE125: what a package that pip installed requires, and that is not installed at all: only what
// its import needs, and the CUDA libraries of JAX and TensorFlow.
#include "base/ranges.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/missing_libraries.hpp"
#include "check/rules/requirements.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

// The statement that fails; nullptr: none is known.
const facts::FailingImport* failing_import(const CheckContext& context, const Absent& absent) {
    const auto& all = context.inventory.distributions;
    return find_pointer_if(context.failing_imports, [&](const facts::FailingImport& one) {
        return &all[one.distribution] == absent.requirer && one.requirement == absent.name &&
               std::ranges::none_of(context.earlier_sites, [&](const facts::EarlierSite& site) {
                   return is_one_of(one.module, site.modules);
               });
    });
}

// "torch" of lib/python3.11/site-packages/torch/nn/__init__.py.
std::string package_of(const facts::FailingImport& failing) {
    constexpr std::string_view k_packages = "-packages/";
    const auto at = failing.path.rfind(k_packages);
    auto name =
        at == std::string::npos ? failing.path : failing.path.substr(at + k_packages.size());
    name.resize(std::min(name.find_first_of("/."), name.size()));
    return name;
}

void report_absent(const CheckContext& context, const std::vector<const Absent*>& absent,
                   std::vector<CheckFinding>& findings) {
    const auto& first = *absent.front();
    const auto& requirer = *first.requirer;
    std::vector<std::string> words;
    for (const auto* one : absent) {
        words.push_back(pip_name(one->name).empty() ? std::string() : one->words);
    }
    const auto more = absent.size() - 1;
    const auto* failing = failing_import(context, first);
    auto found = report(context, "CE125", first.cuda ? "cuda" : "", requirer.name,
                        {{"requirer", title_of(requirer)},
                         {"name", requirer.name},
                         {"required", first.words},
                         {"module", failing == nullptr ? std::string() : package_of(*failing)},
                         {"more", more == 0 ? std::string() : std::to_string(more)},
                         {"jax", yes_if(requirer.name.starts_with("jax"))},
                         {"command", pip_install(context, &requirer, words)}});
    for (const auto* one : absent) {
        found.finding.evidence.push_back(
            {absolute_path(context, requirer.metadata), 0, "requires " + one->words});
        if (const auto* import = failing_import(context, *one)) {
            found.finding.evidence.push_back({absolute_path(context, import->path),
                                              static_cast<int>(import->line),
                                              "imports " + import->module});
            found.files.push_back(import->path);
        }
    }
    sort_unique(found.files);
    findings.push_back(std::move(found));
}

} // namespace

void find_absent_requirements(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto markers = marker_environment(context);
    if (!markers) {
        return;
    }
    const Requirements requirements(context, *markers);
    std::vector<std::vector<const Absent*>> groups;
    for (const auto& one : requirements.absent()) {
        const bool has_effect = one.cuda || failing_import(context, one) != nullptr;
        if (!has_effect || lacks_library_of(context, *one.requirer, one.name)) {
            continue;
        }
        const auto same = std::ranges::find_if(groups, [&](const auto& group) {
            return group.front()->requirer == one.requirer && group.front()->cuda == one.cuda;
        });
        if (same == groups.end()) {
            groups.push_back({&one});
        } else {
            same->push_back(&one);
        }
    }
    for (const auto& group : groups) {
        report_absent(context, group, findings);
    }
}

} // namespace cudaenv::rules
