#include "check/rules/overwritten.hpp"

#include "base/ranges.hpp"
#include "check/rules/file_kind.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace cudaenv::rules {

namespace {

using facts::Claim;
using facts::ClaimHash;
using facts::ClaimKind;
using facts::FileClaim;
using facts::Fit;

// What one package lost, before it is said to whom. Each list sorted by path.
struct Lost {
    std::map<Party, std::vector<std::string>> replaced; // by writer
    std::vector<std::string> gone;
    std::vector<std::string> changed;
};

struct LostFiles {
    std::map<Party, Lost> by_party;
    // Pairs of victim and writer of which it is unknown who wrote last.
    std::set<std::pair<Party, Party>> unordered;
};

// Which claimed files are not what each record says, and whose content they hold instead. One pass
// over what was found on the disk, else over the paths that two records share.
struct Finder {
    const CheckContext& context;
    Parties parties{context};
    std::map<std::uint32_t, std::vector<std::string>> rewritten{}; // by conda package
    LostFiles found{};

    LostFiles find() {
        if (context.examined != nullptr) {
            look_at_files();
        } else {
            compare_records();
            for (auto& [party, lost] : found.by_party) {
                std::ranges::sort(lost.gone);
                for (auto& [writer, replaced] : lost.replaced) {
                    std::ranges::sort(replaced);
                }
            }
        }
        return std::move(found);
    }

    void look_at_files() {
        for (const auto& [path, state] : context.examined->states()) {
            if (!is_ordinary_difference(path)) {
                look_at(path, state, context.claims.of(path));
            }
        }
        conclude_rewritten();
    }

    void look_at(const std::string& path, const facts::PathState& state,
                 const std::vector<Claim>& claims) {
        std::optional<Party> writer;
        bool conda_has_it = false;
        for (const auto& claim : claims) {
            const auto& file = context.claims.file(claim);
            const auto party = party_of(claim);
            if (state.lies == facts::Lies::File && file.hash == ClaimHash::Sha256 &&
                parties.may_have_written(party) && fit_of(file, &state) == Fit::Same) {
                conda_has_it = conda_has_it || party.is_conda();
                if (!writer || !parties.wrote_after(*writer, party)) {
                    writer = party;
                }
            }
        }
        std::optional<Party> last; // a record that has a path twice has it once
        for (const auto& claim : claims) {
            const auto party = party_of(claim);
            if (!parties.counts(party) || party == last || fits_one_of(party, claims, state)) {
                continue;
            }
            last = party;
            const auto& file = context.claims.file(claim);
            switch (fit_of(file, &state)) {
            case Fit::Missing:
                if (file.kind != ClaimKind::Directory && !parties.is_damaged(party) &&
                    !is_of_a_target(party, path)) {
                    found.by_party[party].gone.push_back(path);
                }
                break;
            case Fit::Other:
                if (!writer) {
                    if (file.prefix_replaced) {
                        rewritten[party.package].push_back(path); // conda's alone
                    } else if (!parties.is_damaged(party)) {
                        found.by_party[party].changed.push_back(path);
                    }
                } else if (!party.is_conda() || !conda_has_it) {
                    found.by_party[party].replaced[*writer].push_back(path);
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
        for (auto& [package, paths] : rewritten) {
            const auto& files = context.inventory.conda[package].files;
            const auto holding = std::ranges::count_if(files, [&](const auto& file) {
                return file.prefix_replaced && file.hash == ClaimHash::Sha256;
            });
            if (holding > static_cast<std::ptrdiff_t>(paths.size())) {
                auto& changed = found.by_party[{Claim::By::Conda, package}].changed;
                changed.insert(changed.end(), paths.begin(), paths.end());
                std::ranges::sort(changed);
            }
        }
    }
    [[nodiscard]] bool fits_one_of(const Party& party, const std::vector<Claim>& claims,
                                   const facts::PathState& state) const {
        return std::ranges::any_of(claims, [&](const Claim& claim) {
            return party_of(claim) == party &&
                   fit_of(context.claims.file(claim), &state) == Fit::Same;
        });
    }

    // `pip install --target` lays scripts, data and headers down beneath the target and lists them
    // as of a home of its own, whose site is lib/python: "../../bin/f2py", which no site of an
    // environment has, whose scripts are three directories up.
    [[nodiscard]] bool is_of_a_target(const Party& party, std::string_view path) const {
        if (party.is_conda()) {
            return false;
        }
        const auto& distribution = context.inventory.distributions[party.package];
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
        context.claims.for_each_shared(
            [&](std::string_view path, std::span<const Claim> claims) { compare(path, claims); });
        for (const auto& shipped : context.ownership.shipped()) {
            if (shipped.gone) {
                found.by_party[{Claim::By::Conda, shipped.conda}].gone.push_back(shipped.claimed);
            }
        }
    }

    void compare(std::string_view path, std::span<const Claim> claims) {
        const Claim* writer = nullptr;
        for (const auto& claim : claims) {
            if (parties.counts(party_of(claim)) &&
                (writer == nullptr || parties.wrote_after(party_of(claim), party_of(*writer)))) {
                writer = &claim;
            }
        }
        if (writer == nullptr || context.claims.file(*writer).hash != ClaimHash::Sha256 ||
            is_ordinary_difference(path)) {
            return;
        }
        const auto by = party_of(*writer);
        for (const auto& claim : claims) {
            const auto party = party_of(claim);
            if (parties.counts(party) && party != by && differ(claim, *writer) &&
                !parties.wrote_after(by, party) && parties.is_order_known(by, party)) {
                return; // unknown who wrote last
            }
        }
        std::optional<Party> last;
        for (const auto& claim : claims) {
            const auto party = party_of(claim);
            if (party == last || party == by || !parties.counts(party) || !differ(claim, *writer) ||
                (party.is_conda() && by.is_conda())) {
                continue;
            }
            const auto& file = context.claims.file(claim);
            const auto& other = context.claims.file(*writer);
            // The record may have the digest from before the prefix was put in.
            if ((file.prefix_replaced || other.prefix_replaced) && !parties.took_over(by, party)) {
                continue;
            }
            last = party;
            found.by_party[party].replaced[by].emplace_back(path);
            if (!parties.is_order_known(by, party)) {
                found.unordered.emplace(party, by);
            }
        }
    }
    [[nodiscard]] bool differ(const Claim& left, const Claim& right) const {
        const auto& one = context.claims.file(left);
        const auto& two = context.claims.file(right);
        return one.kind == ClaimKind::File && two.kind == ClaimKind::File &&
               one.hash == ClaimHash::Sha256 && two.hash == ClaimHash::Sha256 &&
               one.sha256 != two.sha256;
    }
};

LostFiles find_lost_files(const CheckContext& context) {
    return Finder{context}.find();
}

struct Losses {
    const CheckContext& context;
    const facts::Inventory& inventory{context.inventory};
    Parties parties{context};
    LostFiles lost_files{find_lost_files(context)};
    std::vector<Loss> losses{};

    std::vector<Loss> find() {
        for (std::uint32_t package = 0; package < inventory.conda.size(); ++package) {
            conclude_conda(package);
        }
        for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
            conclude_distribution(i);
        }
        return std::move(losses);
    }

    [[nodiscard]] const FileClaim& claim_of(const Party& party, std::string_view path) const {
        const auto claims = context.claims.of(path);
        const auto found = std::ranges::find_if(
            claims, [&](const Claim& claim) { return party_of(claim) == party; });
        static const FileClaim k_none;
        return found == claims.end() ? k_none : context.claims.file(*found);
    }

    // The few lines by which packages of one namespace say that they are: google/__init__.py. Of a
    // namespace that is known as one, modules may lie beside them.
    [[nodiscard]] bool declares_namespace(const Party& party, std::string_view path) const {
        constexpr std::uint64_t k_longest = 1024;
        if (file_name(path) != "__init__.py" || claim_of(party, path).size > k_longest) {
            return false;
        }
        const auto directory = path.substr(0, path.size() - file_name(path).size());
        const bool known = is_known_namespace(inventory, path);
        bool has_parts = false;
        const auto& files = parties.files_of(party);
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
            return is_stray(inventory, path) ||
                   (declares_namespace(victim, path) && declares_namespace(writer, path));
        });
    }
    // Uninstalling one of several takes along what they share: an empty __init__.py or one that
    // declares a namespace, a LICENSE.
    void drop_harmless_absences(const Party& victim, std::vector<std::string>& gone) const {
        if (std::ranges::all_of(gone, [&](const std::string& path) {
                const auto& claim = claim_of(victim, path);
                return is_stray(inventory, path) || is_empty_init(path, claim) ||
                       is_namespace_declaration(path, claim) || declares_namespace(victim, path);
            })) {
            gone.clear();
        }
    }

    Loss& add_loss(LossKind kind, const Party& victim, std::optional<Party> writer) {
        Loss& loss = losses.emplace_back();
        loss.kind = kind;
        loss.victim = victim;
        loss.writer = writer;
        loss.same_distribution = writer && parties.same_name(victim, *writer);
        loss.order_known = !writer || !lost_files.unordered.contains({victim, *writer});
        const auto& files = parties.files_of(victim);
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
        const auto is_no_code = [&](const std::string& path) { return !is_code(inventory, path); };
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
        const auto at = lost_files.by_party.find(party);
        if (at == lost_files.by_party.end()) {
            return;
        }
        Lost& lost = at->second;
        drop_harmless_absences(party, lost.gone);
        const auto taker = taker_of(package);
        std::vector<Party> writers;
        for (const auto& [writer, replaced] : lost.replaced) {
            if (writer != taker &&
                (parties.same_name(party, writer) || !is_harmless(party, writer, replaced))) {
                writers.push_back(writer);
            }
        }
        if (taker && (lost.replaced.contains(*taker) ||
                      (parties.took_over(*taker, party) && !lost.gone.empty()))) {
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
                lost.gone, [&](const std::string& path) { return is_code(inventory, path); })) {
            auto& loss = add_loss(LossKind::Gone, party, {});
            loss.gone = std::exchange(lost.gone, {});
        }
        if (taker && parties.took_over(*taker, party)) {
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
        for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
            const auto& owned = context.ownership.of(i);
            const Party party{Claim::By::Distribution, i};
            if (owned.owner == Owner::Pip && owned.conda == package &&
                (!taker || parties.time_of(party) > parties.time_of(*taker))) {
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
        const auto& all = context.ownership.shipped();
        return std::ranges::any_of(all, [&](const ShippedDistribution& shipped) {
            return shipped.conda == package && shipped.gone && is_one_of(shipped.claimed, gone) &&
                   std::ranges::none_of(inventory.distributions,
                                        [&](const auto& other) {
                                            return other.name == shipped.name && other.has_metadata;
                                        }) &&
                   (context.examined != nullptr ? is_most({Claim::By::Conda, package}, gone)
                                                : std::ranges::any_of(all, [&](const auto& other) {
                                                      return other.site == shipped.site &&
                                                             !other.gone;
                                                  }));
        });
    }

    void conclude_distribution(std::uint32_t number) {
        const Party party{Claim::By::Distribution, number};
        const auto at = lost_files.by_party.find(party);
        if (at == lost_files.by_party.end()) {
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
            const bool same = parties.same_name(party, writer);
            if (writer.is_conda() ? same || !is_harmless(party, writer, replaced)
                                  : !same && !is_harmless(party, writer, replaced)) {
                // The package that also removed the other files comes first.
                writers.insert(same ? writers.begin() : writers.end(), writer);
            }
        }
        const auto& owned = context.ownership.of(number);
        if (owned.conda) {
            const Party beside{Claim::By::Conda, *owned.conda};
            const bool is_named = is_one_of(beside, writers);
            if (!is_named && !owned.took_over && !lost.gone.empty() &&
                parties.wrote_after(beside, party)) {
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
        const auto& own = inventory.distributions[number];
        for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
            const auto& other = inventory.distributions[i];
            if (i != number && other.name == own.name && other.has_metadata &&
                context.ownership.of(i).owner == Owner::Pip &&
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
                                  : inventory.distributions[party.package].metadata + '/';
        const auto is_metadata = [&](std::string_view path) {
            return !metadata.empty() && path.starts_with(metadata);
        };
        const auto& files = parties.files_of(party);
        const auto content = std::ranges::count_if(files, [&](const FileClaim& file) {
            const auto path = files.path(file);
            return file.kind == ClaimKind::File && !is_metadata(path) &&
                   !is_ordinary_difference(path);
        });
        const auto lost = std::ranges::count_if(
            gone, [&](const std::string& path) { return !is_metadata(path); });
        return lost * 2 > content;
    }
};

} // namespace

std::vector<Loss> find_losses(const CheckContext& context) {
    return Losses{context}.find();
}

std::map<std::uint32_t, std::vector<std::string>> edited_files(const CheckContext& context) {
    std::map<std::uint32_t, std::vector<std::string>> edited;
    auto lost = find_lost_files(context);
    for (auto& [party, files] : lost.by_party) {
        if (party.by == Claim::By::Distribution && !files.changed.empty()) {
            edited.emplace(party.package, std::move(files.changed));
        }
    }
    return edited;
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
