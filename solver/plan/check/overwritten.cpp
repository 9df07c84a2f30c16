#include "solver/plan/check/overwritten.hpp"

#include "solver/plan/check/file_kind.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cudaenv::plan {

namespace {

using facts::Claim;
using facts::ClaimHash;
using facts::ClaimKind;
using facts::FileClaim;
using facts::Fit;

// What one package lost, before it is said to whom.
struct Lost {
    std::map<Party, std::vector<std::string>> replaced; // by writer
    std::vector<std::string> gone;
    std::vector<std::string> changed;
};

Party party_of(const Claim& claim) {
    return {claim.by, claim.package};
}

class Losses {
public:
    explicit Losses(const CheckScene& scene) : m_scene(scene), m_inventory(scene.inventory) {}

    std::vector<Loss> find() {
        if (m_scene.examined != nullptr) {
            look_at_files();
        } else {
            compare_records();
        }
        for (std::uint32_t package = 0; package < m_inventory.conda.size(); ++package) {
            conclude_conda(package);
        }
        for (std::uint32_t i = 0; i < m_inventory.distributions.size(); ++i) {
            conclude_distribution(i);
        }
        return std::move(m_told);
    }

private:
    // Does the package's record say what ought to lie there? That of a dist-info within a conda
    // package was made before conda finished it; those of the system's do not fit their files.
    [[nodiscard]] bool counts(const Party& party) const {
        return party.is_conda() || m_scene.ownership.of(party.package).owner == Owner::Pip;
    }
    // Nevertheless, a file that is what such a RECORD says, and not what conda's record says, was
    // put there by pip.
    [[nodiscard]] bool may_have_written(const Party& party) const {
        return counts(party) || (m_scene.ownership.of(party.package).owner == Owner::Conda &&
                                 m_inventory.distributions[party.package].installer != "conda" &&
                                 !m_inventory.distributions[party.package].installer.empty());
    }
    [[nodiscard]] std::int64_t time_of(const Party& party) const {
        return party.is_conda() ? m_inventory.conda[party.package].written_ns
                                : m_inventory.distributions[party.package].installed_ns;
    }
    [[nodiscard]] const facts::FileClaims& files_of(const Party& party) const {
        return party.is_conda() ? m_inventory.conda[party.package].files
                                : m_inventory.distributions[party.package].files;
    }
    [[nodiscard]] bool took_over(const Party& by, const Party& from) const {
        if (by.is_conda() || !from.is_conda()) {
            return false;
        }
        const auto& owned = m_scene.ownership.of(by.package);
        return owned.owner == Owner::Pip && owned.took_over && owned.conda == from.package;
    }
    [[nodiscard]] bool same_name(const Party& left, const Party& right) const {
        if (!left.is_conda() && !right.is_conda()) {
            return m_inventory.distributions[left.package].name ==
                   m_inventory.distributions[right.package].name;
        }
        if (left.is_conda() && right.is_conda()) {
            return left == right;
        }
        const auto& distribution = left.is_conda() ? right : left;
        const auto& package = left.is_conda() ? left : right;
        return m_scene.ownership.of(distribution.package).conda == package.package;
    }
    // Certainly later; false also where that cannot be told.
    [[nodiscard]] bool wrote_after(const Party& party, const Party& other) const {
        return took_over(party, other) ||
               (!took_over(other, party) && time_of(party) > time_of(other));
    }

    // uv lays several wheels down at once; and times of a copy may be those of one second.
    [[nodiscard]] bool is_order_known(const Party& party, const Party& other) const {
        if (party.is_conda() || other.is_conda()) {
            return true;
        }
        constexpr std::int64_t k_one_install_ns = 10'000'000'000;
        const auto by_uv = [&](const Party& one) {
            return m_inventory.distributions[one.package].installer.starts_with("uv");
        };
        const auto apart = time_of(party) - time_of(other);
        return by_uv(party) && by_uv(other) ? apart > k_one_install_ns || apart < -k_one_install_ns
                                            : apart != 0;
    }

    void look_at_files() {
        for (const auto& [path, state] : m_scene.examined->states()) {
            if (!is_ordinary_difference(path)) {
                look_at(path, state, m_scene.claims.of(path));
            }
        }
    }

    void look_at(const std::string& path, const facts::PathState& state,
                 const std::vector<Claim>& claims) {
        std::optional<Party> writer;
        bool conda_has_it = false;
        for (const auto& claim : claims) {
            const auto& file = m_scene.claims.file(claim);
            const auto party = party_of(claim);
            if (state.lies == facts::Lies::File && file.hash == ClaimHash::Sha256 &&
                may_have_written(party) && fit_of(file, &state) == Fit::Same) {
                conda_has_it = conda_has_it || party.is_conda();
                if (!writer || !wrote_after(*writer, party)) {
                    writer = party;
                }
            }
        }
        std::optional<Party> last; // a record that has a path twice has it once
        for (const auto& claim : claims) {
            const auto party = party_of(claim);
            if (!counts(party) || party == last || fits_one_of(party, claims, state)) {
                continue;
            }
            last = party;
            const auto& file = m_scene.claims.file(claim);
            switch (fit_of(file, &state)) {
            case Fit::Missing:
                if (file.kind != ClaimKind::Directory) {
                    m_lost[party].gone.push_back(path);
                }
                break;
            case Fit::Other:
                if (!writer) {
                    // conda-pack and its like rewrite those once more.
                    if (!file.prefix_replaced) {
                        m_lost[party].changed.push_back(path);
                    }
                } else if (!party.is_conda() || !conda_has_it) {
                    m_lost[party].replaced[*writer].push_back(path);
                }
                break;
            case Fit::Same:
            case Fit::Unknown:
                break;
            }
        }
    }
    [[nodiscard]] bool fits_one_of(const Party& party, const std::vector<Claim>& claims,
                                   const facts::PathState& state) const {
        return std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
            return party_of(claim) == party &&
                   fit_of(m_scene.claims.file(claim), &state) == Fit::Same;
        });
    }

    void compare_records() {
        m_scene.claims.for_each_shared(
            [&](std::string_view path, std::span<const Claim> claims) { compare(path, claims); });
        for (const auto& shipped : m_scene.ownership.shipped()) {
            if (shipped.gone) {
                m_lost[{Claim::By::Conda, shipped.conda}].gone.push_back(shipped.claimed);
            }
        }
    }

    void compare(std::string_view path, std::span<const Claim> claims) {
        const Claim* writer = nullptr;
        for (const auto& claim : claims) {
            if (counts(party_of(claim)) &&
                (writer == nullptr || wrote_after(party_of(claim), party_of(*writer)))) {
                writer = &claim;
            }
        }
        if (writer == nullptr || m_scene.claims.file(*writer).hash != ClaimHash::Sha256 ||
            is_ordinary_difference(path)) {
            return;
        }
        const auto by = party_of(*writer);
        for (const auto& claim : claims) {
            const auto party = party_of(claim);
            if (counts(party) && party != by && differ(claim, *writer) && !wrote_after(by, party) &&
                is_order_known(by, party)) {
                return; // who wrote last cannot be told
            }
        }
        std::optional<Party> last;
        for (const auto& claim : claims) {
            const auto party = party_of(claim);
            if (party == last || party == by || !counts(party) || !differ(claim, *writer) ||
                (party.is_conda() && by.is_conda())) {
                continue;
            }
            const auto& file = m_scene.claims.file(claim);
            const auto& other = m_scene.claims.file(*writer);
            // The record may have the digest from before the prefix was put in.
            if ((file.prefix_replaced || other.prefix_replaced) && !took_over(by, party)) {
                continue;
            }
            last = party;
            m_lost[party].replaced[by].emplace_back(path);
            if (!is_order_known(by, party)) {
                m_unordered.emplace(party, by);
            }
        }
    }
    [[nodiscard]] bool differ(const Claim& left, const Claim& right) const {
        const auto& one = m_scene.claims.file(left);
        const auto& two = m_scene.claims.file(right);
        return one.kind == ClaimKind::File && two.kind == ClaimKind::File &&
               one.hash == ClaimHash::Sha256 && two.hash == ClaimHash::Sha256 &&
               one.sha256 != two.sha256;
    }

    [[nodiscard]] const FileClaim& claim_of(const Party& party, std::string_view path) const {
        const auto claims = m_scene.claims.of(path);
        const auto found = std::find_if(claims.begin(), claims.end(), [&](const Claim& claim) {
            return party_of(claim) == party;
        });
        static const FileClaim k_none;
        return found == claims.end() ? k_none : m_scene.claims.file(*found);
    }

    // The few lines by which packages of one namespace say that they are: google/__init__.py. Of a
    // namespace that is known as one, modules may lie beside them.
    [[nodiscard]] bool declares_namespace(const Party& party, std::string_view path) const {
        constexpr std::uint64_t k_longest = 1024;
        if (file_name(path) != "__init__.py" || claim_of(party, path).size > k_longest) {
            return false;
        }
        const auto directory = path.substr(0, path.size() - file_name(path).size());
        const bool known = is_known_namespace(m_inventory, path);
        bool has_parts = false;
        const auto& files = files_of(party);
        for (const auto& file : files) {
            const auto other = files.path(file);
            if (other.starts_with(directory) && other != path && !is_ordinary_difference(other)) {
                const auto below = other.substr(directory.size());
                if (!known && below.find('/') == std::string_view::npos && below != "py.typed") {
                    return false;
                }
                has_parts = true;
            }
        }
        return has_parts;
    }
    [[nodiscard]] bool is_harmless(const Party& victim, const Party& writer,
                                   const std::vector<std::string>& replaced) const {
        return std::all_of(replaced.begin(), replaced.end(), [&](const std::string& path) {
            return is_stray(m_inventory, path) ||
                   (declares_namespace(victim, path) && declares_namespace(writer, path));
        });
    }
    // Uninstalling one of several takes along what they share: an empty __init__.py, a LICENSE.
    void drop_harmless_absences(const Party& victim, std::vector<std::string>& gone) const {
        if (std::all_of(gone.begin(), gone.end(), [&](const std::string& path) {
                return is_stray(m_inventory, path) || is_empty_init(path, claim_of(victim, path));
            })) {
            gone.clear();
        }
    }

    Loss& tell(LossKind kind, const Party& victim, std::optional<Party> writer) {
        Loss& told = m_told.emplace_back();
        told.kind = kind;
        told.victim = victim;
        told.writer = writer;
        told.same_distribution = writer && same_name(victim, *writer);
        told.order_known = !writer || !m_unordered.contains({victim, *writer});
        const auto& files = files_of(victim);
        told.claimed = static_cast<std::uint32_t>(
            std::count_if(files.begin(), files.end(), [&](const FileClaim& file) {
                return file.kind != ClaimKind::Directory &&
                       !is_ordinary_difference(files.path(file));
            }));
        return told;
    }

    // What is left when everybody on record has been told. Data alone may have been cleared away to
    // save space; where code went as well, it was no such thing.
    void conclude_changed(const Party& party, Lost& lost) {
        const auto is_no_code = [&](const std::string& path) {
            return !is_code(m_inventory, path);
        };
        std::erase_if(lost.changed, is_no_code);
        if (std::all_of(lost.gone.begin(), lost.gone.end(), is_no_code)) {
            lost.gone.clear();
        }
        if (lost.changed.empty() && lost.gone.empty()) {
            return;
        }
        auto& told = tell(LossKind::Changed, party, {});
        told.changed = std::move(lost.changed);
        told.gone = std::move(lost.gone);
    }

    void conclude_conda(std::uint32_t package) {
        const Party party{Claim::By::Conda, package};
        const auto at = m_lost.find(party);
        if (at == m_lost.end()) {
            return;
        }
        Lost& lost = at->second;
        drop_harmless_absences(party, lost.gone);
        const auto taker = taker_of(package);
        std::vector<Party> writers;
        for (const auto& [writer, replaced] : lost.replaced) {
            if (writer != taker &&
                (same_name(party, writer) || !is_harmless(party, writer, replaced))) {
                writers.push_back(writer);
            }
        }
        if (taker &&
            (lost.replaced.contains(*taker) || (took_over(*taker, party) && !lost.gone.empty()))) {
            writers.insert(writers.begin(), *taker);
        }
        for (const auto& writer : writers) {
            auto& told = tell(LossKind::WheelOverConda, party, writer);
            told.replaced = std::move(lost.replaced[writer]);
            told.gone = std::exchange(lost.gone, {});
        }
        if (writers.empty() && was_uninstalled(package, lost.gone)) {
            auto& told = tell(LossKind::WheelOverConda, party, {});
            told.same_distribution = true;
            told.gone = std::exchange(lost.gone, {});
        }
        conclude_changed(party, lost);
    }
    // pip's distribution of what the package lays down; of several the one installed last.
    [[nodiscard]] std::optional<Party> taker_of(std::uint32_t package) const {
        std::optional<Party> taker;
        for (std::uint32_t i = 0; i < m_inventory.distributions.size(); ++i) {
            const auto& owned = m_scene.ownership.of(i);
            const Party party{Claim::By::Distribution, i};
            if (owned.owner == Owner::Pip && owned.conda == package &&
                (!taker || time_of(party) > time_of(*taker))) {
                taker = party;
            }
        }
        return taker;
    }
    // pip uninstalls conda's packages as its own. conda would have taken its record away as well.
    [[nodiscard]] bool was_uninstalled(std::uint32_t package,
                                       const std::vector<std::string>& gone) const {
        const auto& all = m_scene.ownership.shipped();
        return std::any_of(all.begin(), all.end(), [&](const ShippedDistribution& shipped) {
            return shipped.conda == package && shipped.gone &&
                   std::find(gone.begin(), gone.end(), shipped.claimed) != gone.end() &&
                   std::none_of(m_inventory.distributions.begin(), m_inventory.distributions.end(),
                                [&](const auto& other) { return other.name == shipped.name; });
        });
    }

    void conclude_distribution(std::uint32_t number) {
        const Party party{Claim::By::Distribution, number};
        const auto at = m_lost.find(party);
        if (at == m_lost.end()) {
            return;
        }
        Lost& lost = at->second;
        if (is_superseded(number)) {
            conclude_superseded(party, lost);
            return;
        }
        drop_harmless_absences(party, lost.gone);
        std::vector<Party> writers;
        for (const auto& [writer, replaced] : lost.replaced) {
            const bool same = same_name(party, writer);
            if (writer.is_conda() ? same || !is_harmless(party, writer, replaced)
                                  : !same && !is_harmless(party, writer, replaced)) {
                // The one that has taken the rest away as well comes first.
                writers.insert(same ? writers.begin() : writers.end(), writer);
            }
        }
        const auto& owned = m_scene.ownership.of(number);
        if (owned.conda) {
            const Party beside{Claim::By::Conda, *owned.conda};
            const bool told = std::find(writers.begin(), writers.end(), beside) != writers.end();
            if (!told && !owned.took_over && !lost.gone.empty() && wrote_after(beside, party)) {
                writers.insert(writers.begin(), beside);
            }
        }
        for (const auto& writer : writers) {
            auto& told =
                tell(writer.is_conda() ? LossKind::CondaOverWheel : LossKind::WheelOverWheel, party,
                     writer);
            told.replaced = std::move(lost.replaced[writer]);
            told.gone = std::exchange(lost.gone, {});
        }
        if (is_most(party, lost.gone)) {
            auto& told = tell(LossKind::Gone, party, {});
            told.gone = std::exchange(lost.gone, {});
        }
        conclude_changed(party, lost);
    }
    void conclude_superseded(const Party& party, Lost& lost) {
        auto& told = tell(LossKind::Superseded, party, {});
        for (auto& [writer, replaced] : lost.replaced) {
            told.replaced.insert(told.replaced.end(), replaced.begin(), replaced.end());
        }
        std::sort(told.replaced.begin(), told.replaced.end());
        told.gone = std::move(lost.gone);
        told.changed = std::move(lost.changed);
    }
    [[nodiscard]] bool is_superseded(std::uint32_t number) const {
        const auto& own = m_inventory.distributions[number];
        for (std::uint32_t i = 0; i < m_inventory.distributions.size(); ++i) {
            const auto& other = m_inventory.distributions[i];
            if (i != number && other.name == own.name && other.has_metadata &&
                m_scene.ownership.of(i).owner == Owner::Pip &&
                std::pair(other.installed_ns, i) > std::pair(own.installed_ns, number)) {
                return true;
            }
        }
        return false;
    }
    // Of what a distribution holds beside its metadata.
    [[nodiscard]] bool is_most(const Party& party, const std::vector<std::string>& gone) const {
        const auto metadata = m_inventory.distributions[party.package].metadata + '/';
        const auto& files = files_of(party);
        const auto content = std::count_if(files.begin(), files.end(), [&](const FileClaim& file) {
            const auto path = files.path(file);
            return file.kind == ClaimKind::File && !path.starts_with(metadata) &&
                   !is_ordinary_difference(path);
        });
        const auto lost = std::count_if(gone.begin(), gone.end(), [&](const std::string& path) {
            return !path.starts_with(metadata);
        });
        return lost * 2 > content;
    }

    const CheckScene& m_scene;
    const facts::Inventory& m_inventory;
    std::map<Party, Lost> m_lost;
    std::set<std::pair<Party, Party>> m_unordered; // of records that are compared
    std::vector<Loss> m_told;
};

} // namespace

std::vector<Loss> find_losses(const CheckScene& scene) {
    return Losses(scene).find();
}

} // namespace cudaenv::plan
