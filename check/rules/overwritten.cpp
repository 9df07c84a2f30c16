#include "check/rules/overwritten.hpp"

#include "base/ranges.hpp"
#include "check/rules/file_kind.hpp"
#include "check/rules/lost_files.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

using facts::Claim;
using facts::ClaimKind;
using facts::FileClaim;

class Losses {
public:
    explicit Losses(const CheckContext& context)
        : m_context(context), m_inventory(context.inventory), m_parties(context),
          m_files(find_lost_files(context)) {}

    std::vector<Loss> find() {
        for (std::uint32_t package = 0; package < m_inventory.conda.size(); ++package) {
            conclude_conda(package);
        }
        for (std::uint32_t i = 0; i < m_inventory.distributions.size(); ++i) {
            conclude_distribution(i);
        }
        return std::move(m_losses);
    }

private:
    [[nodiscard]] const FileClaim& claim_of(const Party& party, std::string_view path) const {
        const auto claims = m_context.claims.of(path);
        const auto found = std::ranges::find_if(
            claims, [&](const Claim& claim) { return party_of(claim) == party; });
        static const FileClaim k_none;
        return found == claims.end() ? k_none : m_context.claims.file(*found);
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
        const auto& files = m_parties.files_of(party);
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
        return std::ranges::all_of(replaced, [&](const std::string& path) {
            return is_stray(m_inventory, path) ||
                   (declares_namespace(victim, path) && declares_namespace(writer, path));
        });
    }
    // Uninstalling one of several takes along what they share: an empty __init__.py or one that
    // declares a namespace, a LICENSE.
    void drop_harmless_absences(const Party& victim, std::vector<std::string>& gone) const {
        if (std::ranges::all_of(gone, [&](const std::string& path) {
                const auto& claim = claim_of(victim, path);
                return is_stray(m_inventory, path) || is_empty_init(path, claim) ||
                       is_namespace_declaration(path, claim) || declares_namespace(victim, path);
            })) {
            gone.clear();
        }
    }

    Loss& add_loss(LossKind kind, const Party& victim, std::optional<Party> writer) {
        Loss& loss = m_losses.emplace_back();
        loss.kind = kind;
        loss.victim = victim;
        loss.writer = writer;
        loss.same_distribution = writer && m_parties.same_name(victim, *writer);
        loss.order_known = !writer || !m_files.unordered.contains({victim, *writer});
        const auto& files = m_parties.files_of(victim);
        loss.claimed =
            static_cast<std::uint32_t>(std::ranges::count_if(files, [&](const FileClaim& file) {
                return file.kind != ClaimKind::Directory &&
                       !is_ordinary_difference(files.path(file));
            }));
        return loss;
    }

    // What no package on record explains. Missing data alone may have been deleted to save space;
    // where code is missing as well, it was not.
    void conclude_changed(const Party& party, Lost& lost) {
        const auto is_no_code = [&](const std::string& path) {
            return !is_code(m_inventory, path);
        };
        std::erase_if(lost.changed, is_no_code);
        if (std::ranges::all_of(lost.gone, is_no_code)) {
            lost.gone.clear();
        }
        if (lost.changed.empty() && lost.gone.empty()) {
            return;
        }
        auto& loss = add_loss(LossKind::Changed, party, {});
        loss.changed = std::move(lost.changed);
        loss.gone = std::move(lost.gone);
    }

    void conclude_conda(std::uint32_t package) {
        const Party party{Claim::By::Conda, package};
        const auto at = m_files.by_party.find(party);
        if (at == m_files.by_party.end()) {
            return;
        }
        Lost& lost = at->second;
        drop_harmless_absences(party, lost.gone);
        const auto taker = taker_of(package);
        std::vector<Party> writers;
        for (const auto& [writer, replaced] : lost.replaced) {
            if (writer != taker &&
                (m_parties.same_name(party, writer) || !is_harmless(party, writer, replaced))) {
                writers.push_back(writer);
            }
        }
        if (taker && (lost.replaced.contains(*taker) ||
                      (m_parties.took_over(*taker, party) && !lost.gone.empty()))) {
            writers.insert(writers.begin(), *taker);
        }
        for (const auto& writer : writers) {
            auto& loss = add_loss(LossKind::WheelOverConda, party, writer);
            loss.replaced = std::move(lost.replaced[writer]);
            loss.gone = std::exchange(lost.gone, {});
        }
        if (writers.empty() && was_uninstalled(package, lost.gone)) {
            auto& loss = add_loss(LossKind::WheelOverConda, party, {});
            loss.same_distribution = true;
            loss.gone = std::exchange(lost.gone, {});
        }
        if (is_most(party, lost.gone) &&
            std::ranges::any_of(
                lost.gone, [&](const std::string& path) { return is_code(m_inventory, path); })) {
            auto& loss = add_loss(LossKind::Gone, party, {});
            loss.gone = std::exchange(lost.gone, {});
        }
        if (taker && m_parties.took_over(*taker, party)) {
            // Said of the distribution that is in its place.
            std::erase_if(lost.changed, [&](const std::string& path) {
                return claim_of(*taker, path).hash == facts::ClaimHash::Sha256;
            });
        }
        conclude_changed(party, lost);
    }
    // pip's distribution of what the package lays down; of several the one installed last.
    [[nodiscard]] std::optional<Party> taker_of(std::uint32_t package) const {
        std::optional<Party> taker;
        for (std::uint32_t i = 0; i < m_inventory.distributions.size(); ++i) {
            const auto& owned = m_context.ownership.of(i);
            const Party party{Claim::By::Distribution, i};
            if (owned.owner == Owner::Pip && owned.conda == package &&
                (!taker || m_parties.time_of(party) > m_parties.time_of(*taker))) {
                taker = party;
            }
        }
        return taker;
    }
    // pip uninstalls conda's packages as its own. conda would have taken its record away as well.
    // Where no metadata of conda's is left, or the rest of the package is there, somebody has only
    // stripped the environment of metadata.
    [[nodiscard]] bool was_uninstalled(std::uint32_t package,
                                       const std::vector<std::string>& gone) const {
        const auto& all = m_context.ownership.shipped();
        return std::ranges::any_of(all, [&](const ShippedDistribution& shipped) {
            return shipped.conda == package && shipped.gone && is_one_of(shipped.claimed, gone) &&
                   std::ranges::none_of(m_inventory.distributions,
                                        [&](const auto& other) {
                                            return other.name == shipped.name && other.has_metadata;
                                        }) &&
                   (m_context.examined != nullptr
                        ? is_most({Claim::By::Conda, package}, gone)
                        : std::ranges::any_of(all, [&](const auto& other) {
                              return other.site == shipped.site && !other.gone;
                          }));
        });
    }

    void conclude_distribution(std::uint32_t number) {
        const Party party{Claim::By::Distribution, number};
        const auto at = m_files.by_party.find(party);
        if (at == m_files.by_party.end()) {
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
            const bool same = m_parties.same_name(party, writer);
            if (writer.is_conda() ? same || !is_harmless(party, writer, replaced)
                                  : !same && !is_harmless(party, writer, replaced)) {
                // The package that also removed the other files comes first.
                writers.insert(same ? writers.begin() : writers.end(), writer);
            }
        }
        const auto& owned = m_context.ownership.of(number);
        if (owned.conda) {
            const Party beside{Claim::By::Conda, *owned.conda};
            const bool is_named = is_one_of(beside, writers);
            if (!is_named && !owned.took_over && !lost.gone.empty() &&
                m_parties.wrote_after(beside, party)) {
                writers.insert(writers.begin(), beside);
            }
        }
        for (const auto& writer : writers) {
            auto& loss =
                add_loss(writer.is_conda() ? LossKind::CondaOverWheel : LossKind::WheelOverWheel,
                         party, writer);
            loss.replaced = std::move(lost.replaced[writer]);
            loss.gone = std::exchange(lost.gone, {});
        }
        if (is_most(party, lost.gone)) {
            auto& loss = add_loss(LossKind::Gone, party, {});
            loss.gone = std::exchange(lost.gone, {});
        }
        conclude_changed(party, lost);
    }
    void conclude_superseded(const Party& party, Lost& lost) {
        auto& loss = add_loss(LossKind::Superseded, party, {});
        for (auto& [writer, replaced] : lost.replaced) {
            loss.replaced.insert(loss.replaced.end(), replaced.begin(), replaced.end());
        }
        std::ranges::sort(loss.replaced);
        loss.gone = std::move(lost.gone);
        loss.changed = std::move(lost.changed);
    }
    [[nodiscard]] bool is_superseded(std::uint32_t number) const {
        const auto& own = m_inventory.distributions[number];
        for (std::uint32_t i = 0; i < m_inventory.distributions.size(); ++i) {
            const auto& other = m_inventory.distributions[i];
            if (i != number && other.name == own.name && other.has_metadata &&
                m_context.ownership.of(i).owner == Owner::Pip &&
                std::pair(other.installed_ns, i) > std::pair(own.installed_ns, number)) {
                return true;
            }
        }
        return false;
    }
    // Of what a package holds, a distribution beside its metadata.
    [[nodiscard]] bool is_most(const Party& party, const std::vector<std::string>& gone) const {
        const auto metadata = party.is_conda()
                                  ? std::string()
                                  : m_inventory.distributions[party.package].metadata + '/';
        const auto is_metadata = [&](std::string_view path) {
            return !metadata.empty() && path.starts_with(metadata);
        };
        const auto& files = m_parties.files_of(party);
        const auto content = std::ranges::count_if(files, [&](const FileClaim& file) {
            const auto path = files.path(file);
            return file.kind == ClaimKind::File && !is_metadata(path) &&
                   !is_ordinary_difference(path);
        });
        const auto lost = std::ranges::count_if(
            gone, [&](const std::string& path) { return !is_metadata(path); });
        return lost * 2 > content;
    }

    const CheckContext& m_context;
    const facts::Inventory& m_inventory;
    Parties m_parties;
    LostFiles m_files;
    std::vector<Loss> m_losses;
};

} // namespace

std::vector<Loss> find_losses(const CheckContext& context) {
    return Losses(context).find();
}

bool is_dead(const CheckContext& context, const std::vector<Loss>& losses,
             std::uint32_t distribution) {
    const auto& one = context.inventory.distributions[distribution];
    const Party party{Claim::By::Distribution, distribution};
    const auto lost = std::ranges::find_if(losses, [&](const Loss& loss) {
        return loss.kind == LossKind::Superseded && loss.victim == party;
    });
    const auto is_left = [&](const FileClaim& file) {
        const std::string path(one.files.path(file));
        return file.kind == ClaimKind::File && !is_ordinary_difference(path) &&
               !path.starts_with(one.metadata + '/') && !is_one_of(path, lost->replaced) &&
               !is_one_of(path, lost->gone);
    };
    return context.examined != nullptr && one.has_record && lost != losses.end() &&
           lost->changed.empty() && std::ranges::none_of(one.files, is_left);
}

} // namespace cudaenv::rules
