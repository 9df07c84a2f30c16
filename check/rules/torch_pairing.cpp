#include "check/rules/torch_pairing.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/specs/match_spec.hpp"
#include "solver/specs/pep440.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

bool is_release(const FamilyMember& member) {
    if (member.distribution != nullptr && member.distribution->direct_url &&
        (member.distribution->direct_url->editable ||
         !member.distribution->direct_url->vcs.empty() ||
         !member.distribution->direct_url->local_directory.empty())) {
        return false;
    }
    if (member.distribution != nullptr &&
        member.distribution->kind == facts::DistributionKind::EggLink) {
        return false;
    }
    const auto version = specs::Pep440Version::parse(member.version);
    return version && !version->is_prerelease() && member.version.find("+git") == std::string::npos;
}

// What the environment's files say of it, where they were read.
const facts::FrameworkBuild* module_of(const CheckContext& context, std::string_view name) {
    if (context.environment == nullptr) {
        return nullptr;
    }
    const auto& all = context.environment->frameworks;
    return find_pointer(all, name, &facts::FrameworkBuild::name);
}

// The numbers alone: 1.12.0 of 1.12.0a0+git664058f.
std::optional<DottedVersion> numbers_of(std::string_view version) {
    auto parsed = DottedVersion::parse(leading_numbers(version));
    return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

bool same_minor(std::string_view left, std::string_view right) {
    const auto a = numbers_of(left);
    const auto b = numbers_of(right);
    return a && b && a->major() == b->major() && a->minor() == b->minor();
}

// No index has that very version; what is built for the release usually works with it.
bool is_of_source(const FamilyMember& torch) {
    const auto version = specs::Pep440Version::parse(torch.version);
    return !torch.released && (!version || !version->is_dev());
}

Paired by_requirement(const FamilyMember& partner, const FamilyMember& torch) {
    for (const auto& text : partner.distribution->requires_dist) {
        const auto requirement = specs::Requirement::parse(text);
        if (!requirement || requirement->normalized_name() != "torch" ||
            !requirement->url.empty() || requirement->specifiers.clauses().empty()) {
            continue;
        }
        if (requirement->marker) {
            const auto applies = requirement->marker->evaluate({});
            if (!applies || !*applies) {
                continue;
            }
        }
        const auto& clauses = requirement->specifiers.clauses();
        const bool near = std::ranges::any_of(clauses, [&](const specs::Specifier& clause) {
            return same_minor(clause.version(), torch.version);
        });
        Paired paired{Pairing::Fits, requirement->name + requirement->specifiers.str(),
                      PairedBy::Requirement, !near};
        const auto contains = [&](const std::string& version) {
            return requirement->specifiers.contains(version, specs::Prereleases::Allowed);
        };
        // conda-forge's dist-info of pytorch 2.0.0 says 2.0.0.post200.
        const bool fits =
            contains(torch.version) || (torch.conda != nullptr && contains(torch.conda->version));
        if (!fits) {
            // 1.12.0a0+git664058f is a checkout on the way to 1.12.0.
            paired.pairing = near && is_of_source(torch) ? Pairing::Unknown : Pairing::Differs;
        }
        return paired;
    }
    return {};
}

Paired by_dependency(const FamilyMember& partner, const FamilyMember& torch) {
    const std::string torch_version(torch.conda != nullptr
                                        ? std::string_view(torch.conda->version)
                                        : knowledge::public_version(torch.version));
    const auto version = specs::Version::parse(torch_version);
    if (!version || !torch.released) {
        return {};
    }
    for (const auto& text : partner.conda->depends) {
        const auto spec = specs::MatchSpec::parse(text);
        if (!spec || spec->name() != "pytorch" || spec->version_spec() == nullptr ||
            spec->version_spec()->is_anything()) {
            continue;
        }
        const auto verdict = spec->version_spec()->evaluate(torch_version, &*version);
        if (verdict == specs::Verdict::Undefined) {
            return {};
        }
        const auto* wanted = spec->value("version");
        const auto digit =
            wanted == nullptr ? std::string::npos : wanted->find_first_of("0123456789");
        const bool near = digit != std::string::npos &&
                          same_minor(std::string_view(*wanted).substr(digit), torch_version);
        return {verdict == specs::Verdict::Yes ? Pairing::Fits : Pairing::Differs, text,
                PairedBy::Requirement, !near};
    }
    return {};
}

Paired by_table(const FamilyMember& partner, const FamilyMember& torch) {
    const auto* row =
        torch.released && partner.released ? knowledge::torch_release(torch.version) : nullptr;
    if (row == nullptr) {
        return {};
    }
    const auto version = knowledge::public_version(partner.version);
    const auto has = [&](const knowledge::TorchRelease& release) {
        return released_partner(release, partner.name, false) == version ||
               released_partner(release, partner.name, true) == version;
    };
    if (has(*row)) {
        return {Pairing::Fits, torch.name + ' ' + row->torch.str(), PairedBy::Release, false};
    }
    // Known, and only for others.
    const knowledge::TorchRelease* newest = nullptr;
    for (const auto& release : knowledge::torch_releases()) {
        if (has(release)) {
            newest = &release;
            if (same_minor(release.torch.str(), torch.version)) {
                return {};
            }
        }
    }
    return newest == nullptr
               ? Paired{}
               : Paired{Pairing::Differs, "torch " + newest->torch.str(), PairedBy::Release, true};
}

} // namespace

std::optional<FamilyMember> find_member(const CheckContext& context, std::string_view name) {
    const auto& inventory = context.inventory;
    FamilyMember member;
    member.name = name;
    for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
        const auto& distribution = inventory.distributions[i];
        if (distribution.name != name || !distribution.has_metadata) {
            continue;
        }
        if (member.distribution != nullptr) {
            if (member.version != distribution.version) {
                return std::nullopt;
            }
            continue;
        }
        member.distribution = &distribution;
        member.version = distribution.version;
        member.record = distribution.metadata;
        const auto& owned = context.ownership.of(i);
        if (owned.owner == Owner::Conda && owned.conda) {
            member.conda = &inventory.conda[*owned.conda];
        }
    }
    if (member.distribution == nullptr) {
        const auto base =
            std::ranges::find(context.inventory.base, name, &facts::Distribution::name);
        if (base != context.inventory.base.end()) {
            member.distribution = &*base;
            member.version = base->version;
            member.record = base->metadata;
            member.of_base = true;
        }
    }
    if (member.distribution == nullptr) {
        const auto* row = knowledge::find_framework(name);
        const auto conda_name =
            row == nullptr || row->conda.empty() ? name : std::string_view(row->conda.front());
        const auto found =
            std::ranges::find(inventory.conda, conda_name, &facts::CondaPackage::name);
        if (found == inventory.conda.end()) {
            return std::nullopt;
        }
        member.conda = &*found;
        member.version = found->version;
        member.record = found->record;
    }
    member.released = is_release(member);
    member.build = knowledge::build_of({member.name, member.version, module_of(context, name),
                                        member.conda, member.distribution, member.released});
    return member;
}

std::string named(const FamilyMember& member) {
    return member.name + ' ' + member.version;
}

Paired pair_of(const FamilyMember& partner, const FamilyMember& torch) {
    // Both of conda's: its solver decided by their dependencies.
    if (partner.conda != nullptr) {
        if (auto paired = by_dependency(partner, torch); paired.pairing != Pairing::Unknown) {
            return paired;
        }
    } else if (partner.distribution != nullptr) {
        auto paired = by_requirement(partner, torch);
        if (paired.pairing != Pairing::Unknown || !paired.wants.empty()) {
            return paired;
        }
    }
    return by_table(partner, torch);
}

std::vector<std::string_view> torch_partners() {
    std::vector<std::string_view> names;
    for (const auto& row : knowledge::frameworks()) {
        if (row.family == "torch" && row.role == "partner" && row.table == "torch") {
            names.push_back(row.name);
        }
    }
    return names;
}

std::string released_partner(const knowledge::TorchRelease& release, std::string_view name,
                             bool of_conda) {
    const auto& wheel = name == "torchvision" ? release.torchvision : release.torchaudio;
    const auto& conda =
        name == "torchvision" ? release.conda_torchvision : release.conda_torchaudio;
    return (of_conda && conda ? conda : wheel).value_or("");
}

} // namespace cudaenv::rules
