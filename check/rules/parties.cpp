#include "check/rules/parties.hpp"

#include <algorithm>

namespace cudaenv::rules {

Parties::Parties(const CheckContext& context) : m_context(context), m_inventory(context.inventory) {
    m_is_no_record.reserve(m_inventory.distributions.size());
    for (std::uint32_t i = 0; i < m_inventory.distributions.size(); ++i) {
        const auto& distribution = m_inventory.distributions[i];
        const auto claims = context.claims.of(distribution.metadata + "/METADATA");
        m_is_no_record.push_back(
            distribution.kind == facts::DistributionKind::DistInfo &&
            std::ranges::none_of(claims, [&](const facts::Claim& claim) {
                return party_of(claim) == Party{facts::Claim::By::Distribution, i};
            }));
    }
}

bool Parties::counts(const Party& party) const {
    return party.is_conda() || (m_context.ownership.of(party.package).owner == Owner::Pip &&
                                !m_is_no_record[party.package]);
}

bool Parties::may_have_written(const Party& party) const {
    if (party.is_conda()) {
        return true;
    }
    return m_context.ownership.of(party.package).owner == Owner::Pip ||
           (m_context.ownership.of(party.package).owner == Owner::Conda &&
            m_inventory.distributions[party.package].installer != "conda" &&
            !m_inventory.distributions[party.package].installer.empty());
}

std::int64_t Parties::time_of(const Party& party) const {
    return party.is_conda() ? m_inventory.conda[party.package].written_ns
                            : m_inventory.distributions[party.package].installed_ns;
}

const facts::FileClaims& Parties::files_of(const Party& party) const {
    return party.is_conda() ? m_inventory.conda[party.package].files
                            : m_inventory.distributions[party.package].files;
}

bool Parties::took_over(const Party& by, const Party& from) const {
    if (by.is_conda() || !from.is_conda()) {
        return false;
    }
    const auto& owned = m_context.ownership.of(by.package);
    return owned.owner == Owner::Pip && owned.took_over && owned.conda == from.package;
}

bool Parties::same_name(const Party& left, const Party& right) const {
    if (!left.is_conda() && !right.is_conda()) {
        return m_inventory.distributions[left.package].name ==
               m_inventory.distributions[right.package].name;
    }
    if (left.is_conda() && right.is_conda()) {
        return left == right;
    }
    const auto& distribution = left.is_conda() ? right : left;
    const auto& package = left.is_conda() ? left : right;
    return m_context.ownership.of(distribution.package).conda == package.package;
}

bool Parties::wrote_after(const Party& party, const Party& other) const {
    return took_over(party, other) || (!took_over(other, party) && time_of(party) > time_of(other));
}

bool Parties::is_order_known(const Party& party, const Party& other) const {
    if (party.is_conda() || other.is_conda()) {
        return true;
    }
    constexpr std::int64_t k_one_install_ns = 10'000'000'000;
    const auto by_uv = [&](const Party& one) {
        return is_uv(m_inventory.distributions[one.package].installer);
    };
    const auto apart = time_of(party) - time_of(other);
    return by_uv(party) && by_uv(other) ? apart > k_one_install_ns || apart < -k_one_install_ns
                                        : apart != 0;
}

bool conda_claims_below(const CheckContext& context, const std::string& path) {
    const auto directory = path + '/';
    return std::ranges::any_of(context.inventory.conda, [&](const facts::CondaPackage& package) {
        return std::ranges::any_of(package.files, [&](const auto& file) {
            return package.files.path(file).starts_with(directory);
        });
    });
}

} // namespace cudaenv::rules
