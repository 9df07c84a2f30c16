#include "check/rules/consequences.hpp"

#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/origin.hpp"
#include "check/rules/overwritten.hpp"
#include "check/rules/requirements.hpp"
#include "solver/knowledge/findings.hpp"
#include "solver/specs/match_spec.hpp"
#include "solver/specs/requirement.hpp"
#include "solver/specs/version.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace cudaenv::rules {

namespace {

using facts::Distribution;
using specs::Requirement;

// Which distributions and packages repairs concern.
struct Change {
    std::set<std::uint32_t> removed;                        // distributions
    std::set<std::uint32_t> restored;                       // conda packages
    std::vector<std::pair<std::string, std::string>> added; // name and version
};

Change change_by(const facts::Inventory& inventory, std::span<const Repair> repairs) {
    Change change;
    const auto remove = [&](auto concerns) {
        for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
            if (concerns(inventory.distributions[i])) {
                change.removed.insert(i);
            }
        }
    };
    for (const auto& repair : repairs) {
        if (const auto* uninstall = std::get_if<UninstallPip>(&repair)) {
            remove([&](const Distribution& one) {
                return one.name == uninstall->distribution &&
                       (uninstall->metadata.empty() || one.metadata == uninstall->metadata);
            });
        } else if (const auto* leftover = std::get_if<Remove>(&repair)) {
            remove([&](const Distribution& one) { return one.metadata == leftover->path; });
        } else if (const auto* kept = std::get_if<RestoreKept>(&repair)) {
            remove([&](const Distribution& one) { return one.name == kept->distribution; });
            change.added.emplace_back(kept->distribution, kept->version);
        } else if (const auto* conda = std::get_if<RestoreConda>(&repair)) {
            change.restored.insert(conda->package);
        } else if (const auto* again = std::get_if<ReinstallPip>(&repair)) {
            change.added.emplace_back(again->distribution, again->version);
        }
    }
    return change;
}

using Names = std::set<std::string, std::less<>>;

// Whose requirements, and requirements of what, a change may concern.
Names names_in(const CheckContext& context, const Change& change) {
    const auto& inventory = context.inventory;
    Names names;
    const auto add_conda = [&](std::uint32_t package) {
        names.insert(inventory.conda[package].name);
        for (const auto& shipped : context.ownership.shipped()) {
            if (shipped.conda == package) {
                names.insert(shipped.name);
            }
        }
    };
    for (const auto number : change.removed) {
        names.insert(inventory.distributions[number].name);
        if (const auto& owned = context.ownership.of(number); owned.conda) {
            add_conda(*owned.conda);
        }
    }
    std::ranges::for_each(change.restored, add_conda);
    for (const auto& [name, version] : change.added) {
        names.insert(name);
    }
    return names;
}

// "click" of "click>=8.2" and "click >=8.2", as a distribution is named. Parsing takes longer.
std::string name_in(std::string_view requirement) {
    constexpr std::string_view k_name =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return specs::normalize_project_name(
        requirement.substr(0, requirement.find_first_not_of(k_name)));
}

// What is installed where a change has been made. Refers to the context and the change.
class Standing {
public:
    Standing(const CheckContext& context, const Change& change)
        : m_context(context), m_change(change), m_markers(marker_environment(context)) {
        const auto& inventory = context.inventory;
        for (const auto& package : inventory.conda) {
            m_conda.emplace(package.name,
                            static_cast<std::uint32_t>(&package - inventory.conda.data()));
        }
        for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
            const auto& one = inventory.distributions[i];
            const auto& owned = context.ownership.of(i);
            if (!one.has_metadata || one.name.empty() || change.removed.contains(i)) {
                continue;
            }
            m_here.emplace(one.name, &one);
            add_version(one.name, one.version);
            if (is_own_version(one.version) || origin_of(one) != facts::Origin::Wheel) {
                add_build(one.name, one.version);
            }
            // conda may give its package another version: 2.0.0.post200.
            if (owned.owner == Owner::Conda && owned.conda) {
                add_version(one.name, inventory.conda[*owned.conda].version);
            }
            if (owned.owner == Owner::Pip && owned.conda && owned.took_over) {
                m_taken.emplace(*owned.conda, one.version);
            }
        }
        for (const auto& one : inventory.base) {
            add_version(one.name, one.version);
        }
        for (const auto& [name, version] : change.added) {
            add_version(name, version);
            add_build(name, version);
        }
        for (const auto& shipped : context.ownership.shipped()) {
            const bool back = change.restored.contains(shipped.conda);
            if (back) {
                const auto& package = inventory.conda[shipped.conda];
                add_version(shipped.name,
                            shipped.version.empty() ? package.version : shipped.version);
                add_version(shipped.name, package.version);
            } else if (shipped.gone && !m_taken.contains(shipped.conda)) {
                m_gone.insert(shipped.conda);
            }
        }
    }

    // Whether conda's package is here as conda installed it.
    [[nodiscard]] bool is_condas(std::uint32_t package) const {
        return !m_taken.contains(package) && !m_gone.contains(package);
    }
    [[nodiscard]] bool has(const std::string& name) const {
        const auto conda = m_conda.find(name);
        return m_versions.contains(name) || (conda != m_conda.end() && is_condas(conda->second));
    }

    // `only`: of and for these names; null: all.
    [[nodiscard]] std::set<UnmetRequirement> unmet(const Names* only = nullptr) {
        m_only = only;
        for (const auto& [name, one] : m_here) {
            collect(*one, "");
        }
        const auto& all = m_context.inventory.conda;
        for (std::uint32_t i = 0; i < all.size(); ++i) {
            if (is_condas(i)) {
                collect_depends(all[i]);
            }
        }
        return std::move(m_unmet);
    }

private:
    [[nodiscard]] bool counts(const std::string& dependent, std::string_view requirement) const {
        // conda's names may have other characters than a distribution's: "typing_extensions".
        return m_only == nullptr || m_only->contains(dependent) ||
               m_only->contains(name_in(requirement)) ||
               m_only->contains(requirement.substr(0, requirement.find_first_of(" =<>![")));
    }
    void add_version(const std::string& name, const std::string& version) {
        m_versions[name].push_back(version);
    }
    // 2.6.0a0+ecf3bae of a checkout or a vendor is on the way to 2.6.0.
    void add_build(const std::string& name, const std::string& version) {
        if (is_own_version(version)) {
            add_version(name, version.substr(0, version.find_first_not_of("0123456789.")));
        }
    }

    // `extra`: requirements of it count only where another package here requires that extra.
    void collect(const Distribution& dependent, const std::string& extra) {
        if (!m_collected.emplace(&dependent, extra).second) {
            return;
        }
        for (const auto& text : dependent.requires_dist) {
            if (!counts(dependent.name, text) && text.find('[') == std::string::npos) {
                continue; // without an extra
            }
            const auto requirement = Requirement::parse(text);
            if (!requirement) {
                continue;
            }
            if (requirement->marker) {
                if (!m_markers) {
                    continue;
                }
                auto markers = *m_markers;
                markers.extra = extra;
                const auto applies = requirement->marker->evaluate(markers);
                if (!applies || !*applies) {
                    continue;
                }
            } else if (!extra.empty()) {
                continue; // counted without the extra
            }
            const auto name = requirement->normalized_name();
            for (const auto& wanted : requirement->extras) {
                if (const auto at = m_here.find(name); at != m_here.end()) {
                    collect(*at->second, specs::normalize_project_name(wanted));
                }
            }
            if (!is_met(name, requirement->specifiers)) {
                m_unmet.insert({title_of(dependent), printable(text.substr(0, text.find(';'))),
                                dependent.name, name});
            }
        }
    }
    [[nodiscard]] bool is_met(const std::string& name,
                              const specs::SpecifierSet& specifiers) const {
        const auto found = m_versions.find(name);
        return found != m_versions.end() &&
               std::ranges::any_of(found->second, [&](const std::string& version) {
                   return !specs::Pep440Version::parse(version) ||
                          specifiers.contains(version, specs::Prereleases::Allowed);
               });
    }

    void collect_depends(const facts::CondaPackage& dependent) {
        for (const auto& text : dependent.depends) {
            if (!counts(dependent.name, text)) {
                continue;
            }
            const auto spec = specs::MatchSpec::parse(text);
            if (!spec || spec->name_is_pattern() || spec->name().starts_with("__")) {
                continue;
            }
            if (!is_met_by_conda(*spec)) {
                m_unmet.insert(
                    {title_of(dependent), printable(text), dependent.name, spec->name()});
            }
        }
    }
    // By what is really here: pip's version where it took the place of conda's.
    [[nodiscard]] bool is_met_by_conda(const specs::MatchSpec& spec) const {
        const auto found = m_conda.find(spec.name());
        if (found == m_conda.end() || m_gone.contains(found->second)) {
            return false;
        }
        const auto taken = m_taken.find(found->second);
        const auto& text = taken != m_taken.end()
                               ? taken->second
                               : m_context.inventory.conda[found->second].version;
        const auto* wanted = spec.version_spec();
        const auto version = specs::Version::parse(text);
        return wanted == nullptr || !version ||
               wanted->evaluate(text, &*version) != specs::Verdict::No;
    }

    const CheckContext& m_context;
    const Change& m_change;
    std::optional<specs::MarkerEnvironment> m_markers;
    std::map<std::string, std::uint32_t, std::less<>> m_conda;
    std::multimap<std::string, const Distribution*, std::less<>> m_here;
    std::map<std::string, std::vector<std::string>, std::less<>> m_versions;
    std::map<std::uint32_t, std::string> m_taken; // conda packages, by pip's version
    std::set<std::uint32_t> m_gone;               // conda packages, whose metadata is missing
    std::set<std::pair<const Distribution*, std::string>> m_collected;
    std::set<UnmetRequirement> m_unmet;
    const Names* m_only = nullptr;
};

// Of the repairs of a finding, one concerns what has this name.
bool concerns(const CheckContext& context, const CheckFinding& finding, const std::string& name) {
    const auto& inventory = context.inventory;
    return std::ranges::any_of(finding.repairs, [&](const Repair& repair) {
        if (const auto* conda = std::get_if<RestoreConda>(&repair)) {
            return inventory.conda[conda->package].name == name ||
                   std::ranges::any_of(context.ownership.shipped(), [&](const auto& shipped) {
                       return shipped.conda == conda->package && shipped.name == name;
                   });
        }
        const std::vector<Repair> alone{repair};
        const auto change = change_by(inventory, alone);
        return std::ranges::any_of(change.removed,
                                   [&](std::uint32_t number) {
                                       return inventory.distributions[number].name == name;
                                   }) ||
               std::ranges::any_of(change.added,
                                   [&](const auto& added) { return added.first == name; });
    });
}

void withhold(CheckFinding& finding, std::string_view reason, facts::Arguments arguments) {
    finding.repairs.clear();
    finding.finding.fix = knowledge::withheld_fix(reason, arguments);
    arguments.emplace_back("withheld", reason);
    for (auto& argument : arguments) {
        finding.finding.arguments.push_back(std::move(argument));
    }
}

// A file of a distribution that goes, edited since: it would lie among those of another version;
// empty if no such file was edited.
std::string edited_file(const CheckContext& context, const CheckFinding& finding,
                        std::span<const Loss> losses) {
    const auto& all = context.inventory.distributions;
    const auto change = change_by(context.inventory, finding.repairs);
    for (const auto& loss : losses) {
        if (loss.victim.is_conda() || !change.removed.contains(loss.victim.package) ||
            loss.changed.empty()) {
            continue;
        }
        const auto& own = all[loss.victim.package];
        const bool stays =
            !change.restored.empty() || std::ranges::any_of(all, [&](const Distribution& other) {
                return other.name == own.name &&
                       !change.removed.contains(static_cast<std::uint32_t>(&other - all.data()));
            });
        for (const auto& path : loss.changed) {
            const auto claims = context.claims.of(path);
            const bool is_anothers = std::ranges::any_of(claims, [&](const facts::Claim& claim) {
                return claim.by == facts::Claim::By::Distribution &&
                       !change.removed.contains(claim.package);
            });
            if (stays && !is_anothers) {
                return path;
            }
        }
    }
    return {};
}

// An installer that installs the same version again overwrites what was edited, data as well.
void withhold_reinstalls(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto& all = context.inventory.distributions;
    std::optional<std::map<std::uint32_t, std::vector<std::string>>> edited;
    for (auto& finding : findings) {
        const auto again = std::ranges::find_if(finding.repairs, [](const Repair& repair) {
            return std::holds_alternative<ReinstallPip>(repair);
        });
        if (context.examined == nullptr || again == finding.repairs.end()) {
            continue;
        }
        const auto name = std::get<ReinstallPip>(*again).distribution;
        edited = edited ? std::move(edited) : std::optional(edited_files(context));
        const auto own = std::ranges::find_if(
            *edited, [&](const auto& one) { return all[one.first].name == name; });
        if (own != edited->end()) {
            withhold(finding, "overwrites",
                     {{"path", printable(own->second.front())},
                      {"command", pip_reinstall(context, all[own->first])}});
        }
    }
}

// Files that were edited.
void withhold_edited(const CheckContext& context, std::vector<CheckFinding>& findings) {
    std::optional<std::vector<Loss>> losses;
    for (auto& finding : findings) {
        if (context.examined == nullptr ||
            std::ranges::none_of(finding.repairs, [](const Repair& repair) {
                return std::holds_alternative<UninstallPip>(repair);
            })) {
            continue;
        }
        if (!losses) {
            losses = find_losses(context);
        }
        if (const auto path = edited_file(context, finding, *losses); !path.empty()) {
            withhold(finding, "edited", {{"path", printable(path)}});
        }
    }
}

// Of any version of the dependent.
bool is_known(const auto& unmet, const UnmetRequirement& one) {
    return std::ranges::any_of(unmet, [&](const UnmetRequirement& other) {
        return other.name == one.name && other.target == one.target;
    });
}

// The command that removes what requires a kept copy's replacement; empty: not by pip alone.
std::string without_dependent(const CheckContext& context, const CheckFinding& finding,
                              const UnmetRequirement& broken) {
    const auto& all = context.inventory.distributions;
    const auto dependent = std::ranges::find(all, broken.name, &Distribution::name);
    const bool kept = std::ranges::any_of(finding.repairs, [](const Repair& repair) {
        return std::holds_alternative<RestoreKept>(repair);
    });
    return kept && dependent != all.end() &&
                   context.ownership.of(static_cast<std::uint32_t>(dependent - all.begin()))
                           .owner == Owner::Pip
               ? pip_uninstall(context, *dependent)
               : std::string();
}

} // namespace

std::vector<UnmetRequirement> unmet_requirements(const CheckContext& context,
                                                 std::span<const Repair> after) {
    const auto change = change_by(context.inventory, after);
    const auto unmet = Standing(context, change).unmet();
    return {unmet.begin(), unmet.end()};
}

void withhold_harmful_repairs(const CheckContext& context, std::vector<CheckFinding>& findings) {
    withhold_edited(context, findings);
    withhold_reinstalls(context, findings);
    std::vector<CheckFinding*> plan;
    for (auto& finding : findings) {
        const auto change = change_by(context.inventory, finding.repairs);
        if (!change.removed.empty() || !change.restored.empty() || !change.added.empty()) {
            plan.push_back(&finding);
        }
    }
    if (plan.empty()) {
        return;
    }
    std::vector<Repair> all;
    for (const auto* finding : plan) {
        all.insert(all.end(), finding->repairs.begin(), finding->repairs.end());
    }
    const auto names = names_in(context, change_by(context.inventory, all));
    const Change none;
    Standing before(context, none);
    const auto unmet_before = before.unmet(&names);
    while (!plan.empty()) {
        std::vector<Repair> repairs;
        for (const auto* finding : plan) {
            repairs.insert(repairs.end(), finding->repairs.begin(), finding->repairs.end());
        }
        const auto change = change_by(context.inventory, repairs);
        const auto unmet = Standing(context, change).unmet(&names);
        const auto broken = std::ranges::find_if(unmet, [&](const UnmetRequirement& one) {
            // What was not here before needs nothing that worked.
            return before.has(one.name) && !is_known(unmet_before, one);
        });
        if (broken == unmet.end()) {
            return;
        }
        auto cause = std::ranges::find_if(plan, [&](const CheckFinding* finding) {
            return concerns(context, *finding, broken->target);
        });
        if (cause == plan.end()) {
            cause = std::ranges::find_if(plan, [&](const CheckFinding* finding) {
                return concerns(context, *finding, broken->name);
            });
        }
        cause = cause == plan.end() ? plan.begin() : cause;
        withhold(**cause, "breaks",
                 {{"dependent", broken->dependent},
                  {"requirement", broken->requirement},
                  {"command", without_dependent(context, **cause, *broken)}});
        plan.erase(cause);
    }
}

std::string worse_of(std::span<const UnmetRequirement> unmet_before,
                     std::span<const CheckFinding> findings_before,
                     std::span<const UnmetRequirement> unmet_after,
                     std::span<const CheckFinding> findings_after) {
    for (const auto& one : unmet_after) {
        if (!is_known(unmet_before, one)) {
            return one.dependent + " would no longer have " + one.requirement;
        }
    }
    std::set<std::string_view> files; // that something was the matter with
    for (const auto& before : findings_before) {
        files.insert(before.files.begin(), before.files.end());
    }
    for (const auto& found : findings_after) {
        const bool same_files =
            !found.files.empty() && std::ranges::all_of(found.files, [&](const auto& file) {
                return files.contains(file);
            });
        const bool known = std::ranges::any_of(findings_before, [&](const CheckFinding& before) {
            return before.finding.code == found.finding.code && before.subject == found.subject;
        });
        if (!known && !same_files && found.finding.severity != facts::Severity::Note) {
            return found.finding.code + ' ' + found.finding.title;
        }
    }
    return {};
}

} // namespace cudaenv::rules
