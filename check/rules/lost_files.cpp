#include "check/rules/lost_files.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace cudaenv::rules {

namespace {

using facts::Claim;
using facts::ClaimHash;
using facts::ClaimKind;
using facts::Fit;

class Finder {
public:
    explicit Finder(const CheckContext& context) : m_context(context), m_parties(context) {}

    LostFiles find() {
        if (m_context.examined != nullptr) {
            look_at_files();
        } else {
            compare_records();
            for (auto& [party, lost] : m_lost.by_party) {
                std::ranges::sort(lost.gone);
                for (auto& [writer, replaced] : lost.replaced) {
                    std::ranges::sort(replaced);
                }
            }
        }
        return std::move(m_lost);
    }

private:
    void look_at_files() {
        for (const auto& [path, state] : m_context.examined->states()) {
            if (!is_ordinary_difference(path)) {
                look_at(path, state, m_context.claims.of(path));
            }
        }
        conclude_rewritten();
    }

    void look_at(const std::string& path, const facts::PathState& state,
                 const std::vector<Claim>& claims) {
        std::optional<Party> writer;
        bool conda_has_it = false;
        for (const auto& claim : claims) {
            const auto& file = m_context.claims.file(claim);
            const auto party = party_of(claim);
            if (state.lies == facts::Lies::File && file.hash == ClaimHash::Sha256 &&
                m_parties.may_have_written(party) && fit_of(file, &state) == Fit::Same) {
                conda_has_it = conda_has_it || party.is_conda();
                if (!writer || !m_parties.wrote_after(*writer, party)) {
                    writer = party;
                }
            }
        }
        std::optional<Party> last; // a record that has a path twice has it once
        for (const auto& claim : claims) {
            const auto party = party_of(claim);
            if (!m_parties.counts(party) || party == last || fits_one_of(party, claims, state)) {
                continue;
            }
            last = party;
            const auto& file = m_context.claims.file(claim);
            switch (fit_of(file, &state)) {
            case Fit::Missing:
                if (file.kind != ClaimKind::Directory && !m_parties.is_damaged(party) &&
                    !is_of_a_target(party, path)) {
                    m_lost.by_party[party].gone.push_back(path);
                }
                break;
            case Fit::Other:
                if (!writer) {
                    if (file.prefix_replaced) {
                        m_rewritten[party.package].push_back(path); // conda's alone
                    } else if (!m_parties.is_damaged(party)) {
                        m_lost.by_party[party].changed.push_back(path);
                    }
                } else if (!party.is_conda() || !conda_has_it) {
                    m_lost.by_party[party].replaced[*writer].push_back(path);
                }
                break;
            case Fit::Same:
            case Fit::Unknown:
                break;
            }
        }
    }
    // conda-pack and its like write the files that hold the prefix once more, all of them. Where
    // others of the package are what its record says, these were changed.
    void conclude_rewritten() {
        for (auto& [package, paths] : m_rewritten) {
            const auto& files = m_context.inventory.conda[package].files;
            const auto holding = std::ranges::count_if(files, [&](const auto& file) {
                return file.prefix_replaced && file.hash == ClaimHash::Sha256;
            });
            if (holding > static_cast<std::ptrdiff_t>(paths.size())) {
                auto& changed = m_lost.by_party[{Claim::By::Conda, package}].changed;
                changed.insert(changed.end(), paths.begin(), paths.end());
                std::ranges::sort(changed);
            }
        }
    }
    [[nodiscard]] bool fits_one_of(const Party& party, const std::vector<Claim>& claims,
                                   const facts::PathState& state) const {
        return std::ranges::any_of(claims, [&](const Claim& claim) {
            return party_of(claim) == party &&
                   fit_of(m_context.claims.file(claim), &state) == Fit::Same;
        });
    }

    // `pip install --target` lays scripts, data and headers down beneath the target and lists them
    // as of a home of its own, whose site is lib/python: "../../bin/f2py", which no site of an
    // environment has, whose scripts are three directories up.
    [[nodiscard]] bool is_of_a_target(const Party& party, std::string_view path) const {
        if (party.is_conda()) {
            return false;
        }
        const auto& distribution = m_context.inventory.distributions[party.package];
        const std::string_view site = distribution.site;
        const auto home = site.substr(0, site.find_last_of('/', site.rfind('/') - 1) + 1);
        if (home.empty() || !path.starts_with(home) ||
            (path.starts_with(site) && path.substr(site.size()).starts_with('/'))) {
            return false;
        }
        constexpr auto k_schemes =
            std::to_array<std::string_view>({"bin/", "share/", "include/", "etc/", "lib/", "man/"});
        return std::ranges::any_of(k_schemes, [&](std::string_view scheme) {
            return path.substr(home.size()).starts_with(scheme);
        });
    }

    void compare_records() {
        m_context.claims.for_each_shared(
            [&](std::string_view path, std::span<const Claim> claims) { compare(path, claims); });
        for (const auto& shipped : m_context.ownership.shipped()) {
            if (shipped.gone) {
                m_lost.by_party[{Claim::By::Conda, shipped.conda}].gone.push_back(shipped.claimed);
            }
        }
    }

    void compare(std::string_view path, std::span<const Claim> claims) {
        const Claim* writer = nullptr;
        for (const auto& claim : claims) {
            if (m_parties.counts(party_of(claim)) &&
                (writer == nullptr || m_parties.wrote_after(party_of(claim), party_of(*writer)))) {
                writer = &claim;
            }
        }
        if (writer == nullptr || m_context.claims.file(*writer).hash != ClaimHash::Sha256 ||
            is_ordinary_difference(path)) {
            return;
        }
        const auto by = party_of(*writer);
        for (const auto& claim : claims) {
            const auto party = party_of(claim);
            if (m_parties.counts(party) && party != by && differ(claim, *writer) &&
                !m_parties.wrote_after(by, party) && m_parties.is_order_known(by, party)) {
                return; // unknown who wrote last
            }
        }
        std::optional<Party> last;
        for (const auto& claim : claims) {
            const auto party = party_of(claim);
            if (party == last || party == by || !m_parties.counts(party) ||
                !differ(claim, *writer) || (party.is_conda() && by.is_conda())) {
                continue;
            }
            const auto& file = m_context.claims.file(claim);
            const auto& other = m_context.claims.file(*writer);
            // The record may have the digest from before the prefix was put in.
            if ((file.prefix_replaced || other.prefix_replaced) &&
                !m_parties.took_over(by, party)) {
                continue;
            }
            last = party;
            m_lost.by_party[party].replaced[by].emplace_back(path);
            if (!m_parties.is_order_known(by, party)) {
                m_lost.unordered.emplace(party, by);
            }
        }
    }
    [[nodiscard]] bool differ(const Claim& left, const Claim& right) const {
        const auto& one = m_context.claims.file(left);
        const auto& two = m_context.claims.file(right);
        return one.kind == ClaimKind::File && two.kind == ClaimKind::File &&
               one.hash == ClaimHash::Sha256 && two.hash == ClaimHash::Sha256 &&
               one.sha256 != two.sha256;
    }

    const CheckContext& m_context;
    Parties m_parties;
    std::map<std::uint32_t, std::vector<std::string>> m_rewritten; // by conda package
    LostFiles m_lost;
};

} // namespace

LostFiles find_lost_files(const CheckContext& context) {
    return Finder(context).find();
}

} // namespace cudaenv::rules
