// CE124 of pip's packages: what a package of the CUDA world requires and is not met, with the
// command that installs what fits and keeps torch as it is.

#include "base/ranges.hpp"
#include "base/shell_word.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/requirements.hpp"
#include "check/rules/rules.hpp"
#include "check/rules/torch_pairing.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/specs/match_spec.hpp"
#include "solver/specs/version.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::rules {

namespace {

using specs::Requirement;

// Beside it pip keeps the torch that is here, with its label.
std::string torch_word(const CheckContext& context) {
    const auto torch = find_member(context, "torch");
    return torch && torch->distribution != nullptr
               ? pip_requirement("torch", torch->distribution->version)
               : std::string();
}

bool requires_torch(const facts::Distribution& distribution) {
    return std::ranges::any_of(distribution.requires_dist, [](const auto& text) {
        const auto requirement = Requirement::parse(text);
        return requirement && requirement->normalized_name() == "torch";
    });
}

// The conda package that a distribution belongs to; nullptr where pip or uv installed it.
const facts::CondaPackage* conda_package_of(const CheckContext& context,
                                            const facts::Distribution& distribution) {
    const auto& all = context.inventory.distributions;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        if (&all[i] == &distribution) {
            const auto& owned = context.ownership.of(i);
            return owned.owner == Owner::Conda && owned.conda
                       ? &context.inventory.conda[*owned.conda]
                       : nullptr;
        }
    }
    return nullptr;
}

bool serves_python(const knowledge::PackageRelease& row, const specs::MarkerEnvironment& markers) {
    const auto minor = markers.python_version.substr(2);
    const auto tag = "cp3" + minor;
    const bool has_wheel = std::ranges::any_of(row.wheels, [&](const auto& wheels) {
        return std::ranges::any_of(wheels.pythons, [&](const std::string& python) {
            return python == tag || python.starts_with("py3") || python.ends_with("-abi3");
        });
    });
    const auto pythons = specs::SpecifierSet::parse(row.requires_python);
    return has_wheel && (!pythons || pythons->contains(markers.python_full_version));
}

// The newest release of a package that is built for the installed torch; nullptr: unknown.
const knowledge::PackageRelease* release_for_torch(const CheckContext& context,
                                                   std::string_view name,
                                                   const facts::Distribution& torch,
                                                   const specs::MarkerEnvironment& markers) {
    const auto member = find_member(context, "torch");
    const knowledge::PackageRelease* best = nullptr;
    for (const auto& row : knowledge::package_releases(name)) {
        const bool same_major = row.cudas.empty() || !member || !member->build.cuda ||
                                std::ranges::any_of(row.cudas, [&](const DottedVersion& cuda) {
                                    return cuda.major() == member->build.cuda->major();
                                });
        if (row.builds_here || !same_major || !serves_python(row, markers)) {
            continue;
        }
        for (const auto& text : row.requirements) {
            const auto requirement = Requirement::parse(text);
            if (requirement && requirement->normalized_name() == "torch" &&
                !requirement->specifiers.clauses().empty() &&
                requirement->specifiers.contains(torch.version)) {
                best = &row; // ascending
            }
        }
    }
    return best;
}

struct Change {
    std::vector<std::string> pip;
    std::vector<std::string> conda;
    const facts::Distribution* like = nullptr; // whose installer is used
    std::string index;
    bool known = true;
};

void add_word(std::vector<std::string>& words, std::string word) {
    if (!is_one_of(word, words)) {
        words.push_back(std::move(word));
    }
}

// The required package, in a version that all who require it accept.
void change_required(const CheckContext& context, const Requirements& requirements,
                     const Applied& unmet, Change& change) {
    auto wanted = requirements.wanted_of(unmet);
    if (wanted.empty()) {
        change.known = false;
        return;
    }
    if (const auto* conda = conda_package_of(context, *unmet.required)) {
        add_word(change.conda, conda->name + wanted.substr(unmet.required->name.size()));
        return;
    }
    if (change.like == nullptr) {
        change.like = unmet.required;
    }
    if (const auto partners = torch_partners(); is_one_of(unmet.required->name, partners)) {
        // Of torch's own index, with its label.
        const auto torch = find_member(context, "torch");
        const auto plus = torch ? torch->version.find('+') : std::string::npos;
        if (plus != std::string::npos) {
            const auto* variant =
                knowledge::torch_variant(torch->version, torch->version.substr(plus + 1));
            if (variant == nullptr || !change.pip.empty()) {
                change.known = false;
                return;
            }
            wanted += torch->version.substr(plus);
            change.index = variant->wheel_index;
        }
    }
    add_word(change.pip, std::move(wanted));
    if (requires_torch(*unmet.required)) {
        add_word(change.pip, torch_word(context));
    }
}

void change_requirer(const CheckContext& context, const specs::MarkerEnvironment& markers,
                     const Applied& unmet, Change& change) {
    const auto* row = release_for_torch(context, unmet.requirer->name, *unmet.required, markers);
    if (row == nullptr || conda_package_of(context, *unmet.requirer) != nullptr) {
        change.known = false;
        return;
    }
    change.like = unmet.requirer;
    add_word(change.pip, pip_requirement(unmet.requirer->name, row->version));
    add_word(change.pip, torch_word(context));
}

void change_to_same_version(const Applied& unmet, Change& change) {
    change.like = unmet.requirer;
    if (release_row(unmet.requirer->name, unmet.required->version) == nullptr) {
        change.known = false;
        return;
    }
    add_word(change.pip, pip_requirement(unmet.requirer->name, unmet.required->version));
    add_word(change.pip, pip_requirement(unmet.required->name, unmet.required->version));
}

std::string command_of(const CheckContext& context, Change change) {
    if (!change.known || (!change.pip.empty() && !change.conda.empty())) {
        return {};
    }
    if (!change.conda.empty()) {
        return conda_install(context, change.conda);
    }
    if (!change.index.empty()) {
        change.pip.insert(change.pip.end(), {"--index-url", change.index});
    }
    return pip_install(context, change.like, change.pip);
}

// CE110, CE111: its compiled modules are seen not to fit torch, and are the proof of it.
bool is_reported(const std::vector<CheckFinding>& findings, const Applied& unmet) {
    return unmet.required->name == "torch" &&
           std::ranges::any_of(findings, [&](const CheckFinding& found) {
               return found.subject == unmet.requirer->name &&
                      (found.finding.code == "CE110" || found.finding.code == "CE111");
           });
}

// One finding for a package, whatever number of its requirements are not met in the same way.
void report_unmet(const CheckContext& context, const Requirements& requirements,
                  const specs::MarkerEnvironment& markers, const std::vector<const Applied*>& unmet,
                  std::vector<CheckFinding>& findings) {
    const auto& first = *unmet.front();
    Change change;
    for (const auto* one : unmet) {
        switch (one->kind) {
        case Unmet::RequiresTorch:
            change_requirer(context, markers, *one, change);
            break;
        case Unmet::SameVersion:
            change_to_same_version(*one, change);
            break;
        default:
            change_required(context, requirements, *one, change);
        }
    }
    const auto more = unmet.size() - 1;
    // A command that meets one of them breaks the other; those that fit together are a resolution.
    const auto* rival = first.kind == Unmet::Required || first.kind == Unmet::Unstated
                            ? requirements.rival_of(first)
                            : nullptr;
    const auto kind = rival == nullptr ? first.kind : Unmet::Excluded;
    const std::string command =
        rival == nullptr
            ? command_of(context, std::move(change))
            : fmt::format("cudaenv resolve {} {}{}", first.requirer->name, rival->requirer->name,
                          context.is_named ? " -p " + shell_word(context.inventory.prefix) : "");
    auto found = report(context, "CE124", name_of(kind), first.requirer->name,
                        {{"requirer", title_of(*first.requirer)},
                         {"name", first.requirer->name},
                         {"required", first.name + first.specifiers.str()},
                         {"other", first.required->name},
                         {"version", first.required->version},
                         {"numpy", yes_if(first.required->name == "numpy")},
                         {"more", more == 0 ? std::string() : std::to_string(more)},
                         {"rival", rival == nullptr ? "" : title_of(*rival->requirer)},
                         {"needed", rival == nullptr ? "" : rival->name + rival->specifiers.str()},
                         {"command", command}});
    found.finding.evidence.push_back(
        {absolute_path(context, first.requirer->metadata), 0, title_of(*first.requirer)});
    for (const auto* one : unmet) {
        const auto required = one->name + one->specifiers.str();
        found.finding.evidence.push_back(
            {absolute_path(context, one->required->metadata), 0,
             one->required->version + " is installed; required: " + required});
        if (!one->source.empty()) {
            found.finding.evidence.push_back({one->source, 0, required});
        }
    }
    findings.push_back(std::move(found));
}

// CE124 of conda's packages: a record that depends on another version than the one that is there.

// "numpy >=1.22,<2" of a dependency, without its build; empty where conda could read a URL or an
// option.
std::string conda_words(const std::string& text) {
    const auto spec = specs::MatchSpec::parse(text);
    const auto* version = spec ? spec->value("version") : nullptr;
    if (version == nullptr || conda_requirement(spec->name(), "1").empty() ||
        version->find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.*,|<>=!~_+") !=
            std::string::npos) {
        return {};
    }
    return spec->name() + ' ' + *version;
}

} // namespace

void find_unmet_requirements(const CheckContext& context, std::vector<CheckFinding>& findings) {
    find_unmet_depends(context, findings);
    const auto markers = marker_environment(context);
    if (!markers) {
        return;
    }
    const Requirements requirements(context, *markers);
    std::vector<std::vector<const Applied*>> groups;
    for (const auto& one : requirements.all()) {
        if (one.holds || is_reported(findings, one)) {
            continue;
        }
        const auto same = std::ranges::find_if(groups, [&](const auto& group) {
            return group.front()->requirer == one.requirer && group.front()->kind == one.kind;
        });
        if (same == groups.end()) {
            groups.push_back({&one});
        } else {
            same->push_back(&one);
        }
    }
    for (const auto& group : groups) {
        report_unmet(context, requirements, *markers, group, findings);
    }
}

// Another version than a record depends on gets there by --no-deps, --force or a lock file.
void find_unmet_depends(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto& all = context.inventory.conda;
    for (const auto& package : all) {
        if (!is_of_cuda_world(package.name)) {
            continue;
        }
        const auto* row = knowledge::find_framework(package.name);
        const auto partners = torch_partners();
        const bool is_partner = row != nullptr && is_one_of(row->name, partners);
        std::vector<std::pair<std::string, const facts::CondaPackage*>> unmet;
        for (const auto& text : package.depends) {
            const auto spec = specs::MatchSpec::parse(text);
            if (!spec || spec->name_is_pattern() || spec->version_spec() == nullptr ||
                (is_partner && spec->name() == "pytorch")) {
                continue;
            }
            const auto other = std::ranges::find(all, spec->name(), &facts::CondaPackage::name);
            if (other == all.end()) {
                continue;
            }
            const auto version = specs::Version::parse(other->version);
            if (version &&
                spec->version_spec()->evaluate(other->version, &*version) == specs::Verdict::No) {
                unmet.emplace_back(text, &*other);
            }
        }
        if (unmet.empty()) {
            continue;
        }
        std::vector<std::string> words;
        std::vector<facts::Evidence> evidence{
            {absolute_path(context, package.record), 0, title_of(package)}};
        for (const auto& [text, other] : unmet) {
            words.push_back(conda_words(text));
            evidence.push_back({absolute_path(context, other->record), 0,
                                other->version + " is installed; required: " + text});
        }
        const auto more = unmet.size() - 1;
        auto found = report(context, "CE124", name_of(Unmet::Depends), package.name,
                            {{"requirer", title_of(package)},
                             {"name", package.name},
                             {"required", unmet.front().first},
                             {"version", unmet.front().second->version},
                             {"more", more == 0 ? std::string() : std::to_string(more)},
                             {"command", conda_install(context, words)}});
        found.finding.evidence = std::move(evidence);
        findings.push_back(std::move(found));
    }
}

} // namespace cudaenv::rules
