#include "check/rules/family_member.hpp"

#include "base/ranges.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/specs/pep440.hpp"

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

} // namespace cudaenv::rules
