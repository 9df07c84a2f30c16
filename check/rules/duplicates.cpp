#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/origin.hpp"
#include "check/rules/overwritten.hpp"
#include "check/rules/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace cudaenv::rules {

namespace {

using facts::Claim;
using facts::Distribution;

Party party_of(std::uint32_t distribution) {
    return {Claim::By::Distribution, distribution};
}

// The Python that a site is of: "python3.11" of lib/python3.11/site-packages.
std::string_view python_of(std::string_view site) {
    site = site.substr(0, std::min(site.rfind('/'), site.size()));
    return site.substr(site.rfind('/') + 1);
}

bool are_of_one_python(std::string_view site, std::string_view other) {
    const auto one = python_of(site);
    const auto two = python_of(other);
    return one == two || one == "python3" || two == "python3";
}

// setup.py develop and pip install -e of one directory.
bool are_one_editable(const Distribution& left, const Distribution& right) {
    const auto source = source_of(left);
    return !source.empty() && origin_of(left) != facts::Origin::Wheel &&
           source == source_of(right) &&
           (left.kind == facts::DistributionKind::EggLink ||
            right.kind == facts::DistributionKind::EggLink);
}

// "1.15.0 and 1.16.0", "1, 2 and 3"
std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    }
    return text;
}

struct Duplicates {
    const CheckContext& context;
    std::vector<CheckFinding>& findings;
    const std::vector<Distribution>& all{context.inventory.distributions};
    std::optional<std::vector<Loss>> found_losses{};

    void find() {
        std::map<std::string_view, std::vector<std::uint32_t>> by_name;
        for (std::uint32_t i = 0; i < all.size(); ++i) {
            if (all[i].has_metadata && context.ownership.of(i).owner == Owner::Pip &&
                !all[i].name.empty()) {
                by_name[all[i].name].push_back(i);
            }
        }
        for (const auto& [name, numbers] : by_name) {
            report_both_managers(numbers);
            for (auto rest = numbers; rest.size() > 1;) {
                report_copies(take_group(rest));
            }
        }
    }

    // The first and all that are of its Python; they are taken out of the rest.
    std::vector<std::uint32_t> take_group(std::vector<std::uint32_t>& rest) const {
        std::vector<std::uint32_t> group{rest.front()};
        rest.erase(rest.begin());
        std::erase_if(rest, [&](std::uint32_t number) {
            const auto& other = all[number];
            if (!are_of_one_python(all[group.front()].site, other.site)) {
                return false;
            }
            if (std::ranges::none_of(group, [&](std::uint32_t before) {
                    return are_one_editable(all[before], other);
                })) {
                group.push_back(number);
            }
            return true;
        });
        return group;
    }

    // Computed only where a distribution is present twice, which is rare.
    const std::vector<Loss>& losses() {
        if (!found_losses) {
            found_losses = find_losses(context);
        }
        return *found_losses;
    }
    // Is the pair reported as one that overwrote the other?
    bool is_reported(const Party& one, const Party& other) {
        return std::any_of(losses().begin(), losses().end(), [&](const Loss& loss) {
            return (loss.victim == one && loss.writer == other) ||
                   (loss.victim == other && loss.writer == one);
        });
    }
    // Files of the older ones that are not what their records say.
    void add_files(CheckFinding& found, const std::vector<std::uint32_t>& group) {
        for (const auto& loss : losses()) {
            if (loss.kind == LossKind::Superseded &&
                std::ranges::any_of(
                    group, [&](std::uint32_t number) { return loss.victim == party_of(number); })) {
                for (const auto* files : {&loss.replaced, &loss.gone, &loss.changed}) {
                    found.files.insert(found.files.end(), files->begin(), files->end());
                }
            }
        }
        sort_unique(found.files);
    }

    // pip's, and conda's record of the same. Of several of pip's, the one installed last.
    void report_both_managers(const std::vector<std::uint32_t>& numbers) {
        std::optional<std::uint32_t> last;
        for (const auto number : numbers) {
            if (context.ownership.of(number).conda &&
                (!last || all[number].installed_ns > all[*last].installed_ns)) {
                last = number;
            }
        }
        if (!last) {
            return;
        }
        const auto& owned = context.ownership.of(*last);
        const Party pip = party_of(*last);
        const Party conda{Claim::By::Conda, *owned.conda};
        if (is_reported(pip, conda)) {
            return;
        }
        const auto& distribution = all[*last];
        const auto& package = context.inventory.conda[conda.package];
        const bool pip_last = owned.took_over || distribution.installed_ns >= package.written_ns;
        const bool own_work = is_own_work(context, pip);
        auto found = report(context, "CE101", "", distribution.name,
                            {{"name", printable(distribution.name)},
                             {"conda_version", printable(package.version)},
                             {"manager", manager_of(context, pip)},
                             {"pip_version", printable(distribution.version)},
                             {"imported", owned_title(context, pip_last ? pip : conda)},
                             {"removed", owned_title(context, pip)},
                             {"own_work", yes_if(own_work)}});
        found.finding.evidence = {record_evidence(context, conda), record_evidence(context, pip)};
        if (!own_work) {
            found.repairs = {uninstall(context, pip), restore(context, conda, {})};
        }
        found.said_at_prompt = true;
        findings.push_back(std::move(found));
    }

    void report_copies(std::vector<std::uint32_t> group) {
        if (group.size() < 2) {
            return;
        }
        const auto& sites = context.inventory.sites;
        // What setup.py develop put on the path comes after every directory of packages.
        const auto site_of = [&](std::uint32_t number) {
            return all[number].kind == facts::DistributionKind::EggLink
                       ? sites.end() - sites.begin()
                       : std::ranges::find(sites, all[number].site) - sites.begin();
        };
        // The one that is imported first: of the first site, there the one installed last.
        std::ranges::stable_sort(group, [&](std::uint32_t left, std::uint32_t right) {
            return std::pair(site_of(left), -all[left].installed_ns) <
                   std::pair(site_of(right), -all[right].installed_ns);
        });
        const auto& imported = all[group[0]];
        const auto& next = all[group[1]];
        const bool one_site = site_of(group.front()) == site_of(group.back());
        const char* situation = "first-found";
        std::vector<Repair> repairs;
        if (site_of(group[0]) == site_of(group[1]) && imported.installed_ns == next.installed_ns) {
            situation = "undefined";
        } else if (one_site) {
            situation = "last-installed";
            repairs = uninstalls_of(group);
        }
        const auto kept = repairs.empty() ? kept_of(group) : std::nullopt;
        std::vector<std::string> versions;
        std::vector<facts::Evidence> evidence;
        bool built = false; // what uninstalls one of them could take that one's files
        for (const auto number : group) {
            const bool own = is_own_work(context, party_of(number));
            built = built || own;
            versions.insert(versions.begin(),
                            printable(all[number].version) + (own ? " (built here)" : ""));
            evidence.push_back(record_evidence(context, party_of(number)));
        }
        auto found =
            report(context, "CE105", situation, imported.name,
                   {{"name", printable(imported.name)},
                    {"times", group.size() == 2 ? "twice" : fmt::format("{} times", group.size())},
                    {"versions", listed(versions)},
                    {"imported", printable(imported.version)},
                    {"restored", kept ? printable(kept->version) : std::string()},
                    {"remaining", repairs.empty() ? std::string() : printable(imported.version)},
                    // Uninstalling one by its name takes the files of the other.
                    {"by_hand", yes_if(!built && !kept && repairs.empty())},
                    {"built", yes_if(built && !kept && repairs.empty())}});
        if (kept) {
            repairs.emplace_back(*kept);
        }
        found.finding.evidence = std::move(evidence);
        found.repairs = std::move(repairs);
        add_files(found, group);
        found.said_at_prompt = true;
        findings.push_back(std::move(found));
    }

    // Files that the one installed last claims as well stay; without a RECORD only the metadata
    // goes. Nothing is offered where something made by hand would be lost.
    [[nodiscard]] std::vector<Repair> uninstalls_of(const std::vector<std::uint32_t>& group) {
        std::vector<Repair> repairs;
        for (std::size_t i = 1; i < group.size(); ++i) {
            if (is_own_work(context, party_of(group[i])) && !is_dead(context, losses(), group[i])) {
                return {};
            }
            const auto& one = all[group[i]];
            repairs.push_back(one.has_record ? uninstall(context, party_of(group[i]))
                                             : Repair(Remove{one.metadata}));
        }
        return repairs;
    }

    // A kept build whose restore was interrupted lies beside what it replaces: only the kept copy
    // says which of the two is wanted.
    [[nodiscard]] std::optional<RestoreKept>
    kept_of(const std::vector<std::uint32_t>& group) const {
        for (const auto number : group) {
            auto repair = put_back(context, all[number].name, all[number].version);
            if (repair && repair->version == all[number].version) {
                return repair;
            }
        }
        return std::nullopt;
    }
};

} // namespace

void find_duplicates(const CheckContext& context, std::vector<CheckFinding>& findings) {
    Duplicates{context, findings}.find();
}

} // namespace cudaenv::rules
