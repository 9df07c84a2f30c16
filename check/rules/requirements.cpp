#include "check/rules/requirements.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/origin.hpp"
#include "check/rules/torch_pairing.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/frameworks.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::rules {

using specs::Requirement;

namespace {

// 3.11.7; 3.11 where no more is known.
std::string python_of(const CheckContext& context) {
    if (context.environment != nullptr && !context.environment->python.empty()) {
        return context.environment->python;
    }
    const auto& conda = context.inventory.conda;
    const auto python = std::ranges::find(conda, "python", &facts::CondaPackage::name);
    if (python != conda.end()) {
        return python->version;
    }
    for (const auto& site : context.inventory.sites) {
        constexpr std::string_view k_python = "/python3.";
        const auto at = site.find(k_python);
        if (at != std::string::npos) {
            const auto begin = at + k_python.size() - 2;
            return site.substr(begin, site.find('/', begin) - begin);
        }
    }
    return {};
}

Unmet kind_of(const facts::Distribution& requirer, const facts::Distribution& required) {
    const auto* row = knowledge::find_framework(requirer.name);
    if (row != nullptr && row->compared_at_import == required.name) {
        return Unmet::ImportFails;
    }
    return required.name == "torch" ? Unmet::RequiresTorch : Unmet::Required;
}

} // namespace

bool is_of_cuda_world(std::string_view name) {
    return knowledge::find_framework(name) != nullptr ||
           !knowledge::package_releases(name).empty() ||
           knowledge::package_project(name) != nullptr;
}

const knowledge::PackageRelease* release_row(std::string_view name, std::string_view version) {
    return knowledge::package_release(name, knowledge::public_version(version));
}

std::optional<specs::MarkerEnvironment> marker_environment(const CheckContext& context) {
    auto python = python_of(context);
    const auto release = release_of(python);
    if (!release) {
        return std::nullopt;
    }
    specs::MarkerEnvironment markers;
    markers.python_version = release->str();
    if (python == markers.python_version) {
        python += ".0";
    }
    markers.python_full_version = python;
    markers.implementation_version = python;
    if (context.host != nullptr && !context.host->machine.empty()) {
        markers.platform_machine = context.host->machine;
    }
    return markers;
}

std::optional<Requirement> applying(const std::string& text,
                                    const std::optional<specs::MarkerEnvironment>& markers) {
    auto requirement = Requirement::parse(text);
    if (!requirement || !requirement->url.empty()) {
        return std::nullopt;
    }
    if (requirement->marker) {
        if (!markers) {
            return std::nullopt;
        }
        const auto applies = requirement->marker->evaluate(*markers);
        if (!applies || !*applies) {
            return std::nullopt;
        }
    }
    return std::move(*requirement);
}

const char* name_of(Unmet unmet) {
    constexpr auto k_names = std::to_array<const char*>(
        {"required", "torch", "import-fails", "unstated", "same-version", "excluded", "depends"});
    return k_names.at(static_cast<std::size_t>(unmet));
}

Requirements::Requirements(const CheckContext& context, specs::MarkerEnvironment markers)
    : m_context(&context), m_markers(std::move(markers)) {
    const auto& inventory = context.inventory;
    for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
        const auto& one = inventory.distributions[i];
        const auto owner = context.ownership.of(i).owner;
        if (one.has_metadata && owner != Owner::System) {
            // conda's packages have a dist-info too, whose requirements conda's recipe may have
            // changed: its own `depends` are what holds.
            if (owner == Owner::Pip) {
                collect(one, "");
                collect_cuda_extra(one);
            }
            collect_unstated(one, owner == Owner::Conda);
        }
    }
}

const Applied* Requirements::rival_of(const Applied& unmet) const {
    // Ranges overlap in the lower bound of one of them, or in a release that the tables have.
    const auto admits = [](const Applied& one, const Applied& other) {
        const auto both = [&](const std::string& version) {
            return one.specifiers.contains(version, specs::Prereleases::Allowed) &&
                   other.specifiers.contains(version, specs::Prereleases::Allowed);
        };
        for (const auto* side : {&one, &other}) {
            for (const auto& clause : side->specifiers.clauses()) {
                auto version = clause.version();
                if (version.ends_with(".*")) {
                    version.resize(version.size() - 2);
                }
                if (both(version)) {
                    return true;
                }
            }
        }
        return std::ranges::any_of(knowledge::package_releases(one.required->name),
                                   [&](const auto& release) { return both(release.version); });
    };
    for (const auto& one : m_applied) {
        if (one.required == unmet.required && one.requirer != unmet.requirer &&
            !one.specifiers.clauses().empty() && !admits(unmet, one)) {
            return &one;
        }
    }
    return nullptr;
}

bool Requirements::admits(const facts::Distribution& required, const std::string& version) const {
    return std::ranges::all_of(m_applied, [&](const Applied& one) {
        return one.required != &required ||
               one.specifiers.contains(version, specs::Prereleases::Allowed);
    });
}

std::string Requirements::wanted_of(const facts::Distribution& required,
                                    const std::string& more) const {
    std::vector<std::string> clauses;
    if (!more.empty()) {
        clauses.push_back(more);
    }
    std::set<std::string> exact;
    for (const auto& one : m_applied) {
        if (one.required != &required) {
            continue;
        }
        for (const auto& clause : one.specifiers.clauses()) {
            if (clause.relation() == specs::Specifier::Operator::Equal) {
                exact.insert(clause.version());
            }
            if (!is_one_of(clause.str(), clauses)) {
                clauses.push_back(clause.str());
            }
        }
    }
    if (exact.size() > 1) {
        return {};
    }
    if (exact.size() == 1) {
        const auto& version = *exact.begin();
        const bool fits = version.ends_with('*') || admits(required, version);
        return fits ? required.name + "==" + version : std::string();
    }
    std::string text = required.name;
    for (const auto& clause : clauses) {
        text += (&clause == clauses.data() ? "" : ",") + clause;
    }
    return text;
}

// The one that would be imported; nullptr where it is not installed, or in several versions,
// which other rules report.
const facts::Distribution* Requirements::installed(std::string_view name) const {
    const facts::Distribution* found = nullptr;
    for (const auto& one : m_context->inventory.distributions) {
        if (one.name == name && one.has_metadata) {
            if (found != nullptr && found->version != one.version) {
                return nullptr;
            }
            found = found == nullptr ? &one : found;
        }
    }
    if (found != nullptr) {
        return found;
    }
    const auto& base = m_context->inventory.base;
    return find_pointer(base, name, &facts::Distribution::name);
}

// By the version of its own or, where conda gave its package another (2.0.0.post200), by that.
bool Requirements::holds(const facts::Distribution& required,
                         const specs::SpecifierSet& specifiers) const {
    const auto contains = [&](std::string_view version) {
        return specifiers.contains(version, specs::Prereleases::Allowed);
    };
    if (!specs::Pep440Version::parse(required.version) || contains(required.version)) {
        return true; // a version that cannot be read proves nothing
    }
    const auto& all = m_context->inventory.distributions;
    if (!all.empty() && &required >= all.data() && &required < all.data() + all.size()) {
        const auto& owned =
            m_context->ownership.of(static_cast<std::uint32_t>(&required - all.data()));
        if (owned.owner == Owner::Conda && owned.conda &&
            contains(m_context->inventory.conda[*owned.conda].version)) {
            return true;
        }
    }
    // 2.6.0a0+ecf3bae of a checkout or a vendor is on the way to 2.6.0.
    const auto end = required.version.find_first_not_of("0123456789.");
    return (is_own_version(required.version) || origin_of(required) != facts::Origin::Wheel) &&
           contains(required.version.substr(0, end));
}

// Installed, but not as one distribution of one version: that is for other rules.
bool Requirements::is_elsewhere(std::string_view name) const {
    const auto& inventory = m_context->inventory;
    const auto is_it = [&](const auto& one) { return one.name == name; };
    const auto* framework = knowledge::find_framework(name);
    return std::ranges::any_of(inventory.distributions, is_it) ||
           std::ranges::any_of(inventory.conda,
                               [&](const facts::CondaPackage& package) {
                                   return package.name == name ||
                                          (framework != nullptr &&
                                           is_one_of(package.name, framework->conda));
                               }) ||
           std::ranges::any_of(inventory.leftovers, is_it) ||
           std::ranges::any_of(m_context->earlier_sites, [&](const facts::EarlierSite& site) {
               return std::ranges::any_of(site.distributions, is_it);
           });
}

// NVIDIA's wheels are what JAX's plugins and TensorFlow load first, whoever installed them
// (jax_plugins/cuda/__init__.py). Without half of them the machine's libraries are meant.
void Requirements::collect_cuda_extra(const facts::Distribution& requirer) {
    const bool is_jax = requirer.name.starts_with("jax-cuda") && requirer.name.ends_with("-plugin");
    if (!is_jax && requirer.name != "tensorflow") {
        return;
    }
    const auto applied = m_applied.size();
    const auto absent = m_absent.size();
    collect(requirer, is_jax ? "with-cuda" : "and-cuda");
    if (m_absent.size() - absent > m_applied.size() - applied) {
        m_absent.resize(absent);
    }
}

// `extra`: requirements of it count only where another package here requires that extra.
void Requirements::collect(const facts::Distribution& requirer, const std::string& extra) {
    if (!m_collected.emplace(&requirer, extra).second) {
        return;
    }
    auto markers = m_markers;
    markers.extra = extra;
    for (const auto& text : requirer.requires_dist) {
        auto requirement = applying(text, markers);
        if (!requirement) {
            continue;
        }
        const auto name = requirement->normalized_name();
        const auto* required = installed(name);
        if (required == nullptr) {
            const bool is_known = std::ranges::any_of(m_absent, [&](const Absent& one) {
                return one.requirer == &requirer && one.name == name;
            });
            if (!is_known && !is_elsewhere(name)) {
                m_absent.push_back({&requirer, name, name + requirement->specifiers.str(),
                                    extra == "with-cuda" || extra == "and-cuda"});
            }
            continue;
        }
        for (const auto& other : requirement->extras) {
            collect(*required, specs::normalize_project_name(other));
        }
        add(requirer, *required, std::move(*requirement), kind_of(requirer, *required));
    }
}

void Requirements::add(const facts::Distribution& requirer, const facts::Distribution& required,
                       Requirement requirement, Unmet kind, std::string source) {
    const auto partners = torch_partners();
    const bool is_pair = required.name == "torch" && is_one_of(requirer.name, partners);
    if (is_pair || requirement.specifiers.clauses().empty()) {
        return; // the pair is CE120's
    }
    const auto known = [&](const Applied& one) {
        return one.requirer == &requirer && one.required == &required &&
               one.specifiers.str() == requirement.specifiers.str();
    };
    if (std::ranges::none_of(m_applied, known)) {
        const bool met = holds(required, requirement.specifiers);
        m_applied.push_back({&requirer, &required, required.name, std::move(requirement.specifiers),
                             kind, std::move(source), met});
    }
}

// The tables are of the indexes' wheels: a build from source, or conda's, may need something
// else.
void Requirements::collect_unstated(const facts::Distribution& requirer, bool of_conda) {
    const auto* row = release_row(requirer.name, requirer.version);
    if (row != nullptr && !of_conda && !is_own_version(requirer.version) &&
        origin_of(requirer) == facts::Origin::Wheel) {
        for (const auto& text : row->unstated) {
            if (auto requirement = Requirement::parse(text)) {
                if (const auto* required = installed(requirement->normalized_name())) {
                    add(requirer, *required, std::move(*requirement), Unmet::Unstated,
                        row->unstated_source);
                }
            }
        }
    }
    const auto* framework = knowledge::find_framework(requirer.name);
    if (framework == nullptr || framework->same_version.empty()) {
        return;
    }
    const auto* other = installed(framework->same_version);
    const std::string numbers(leading_numbers(requirer.version));
    if (other == nullptr || numbers.empty()) {
        return;
    }
    // The two compare their numbers alone.
    if (auto requirement = Requirement::parse(other->name + "==" + numbers)) {
        m_applied.push_back({&requirer, other, other->name, requirement->specifiers,
                             Unmet::SameVersion, framework->source,
                             numbers == leading_numbers(other->version)});
    }
}

} // namespace cudaenv::rules
