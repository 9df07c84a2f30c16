#include "solver/plan/check/evidence.hpp"
#include "solver/plan/check/origin.hpp"
#include "solver/plan/check/overwritten.hpp"
#include "solver/plan/check/repairs.hpp"
#include "solver/plan/check/rules.hpp"
#include "solver/plan/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace cudaenv::plan {

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

class Duplicates {
public:
    Duplicates(const CheckScene& scene, std::vector<CheckFinding>& found)
        : m_scene(scene), m_all(scene.inventory.distributions), m_found(found) {}

    void find() {
        std::map<std::string_view, std::vector<std::uint32_t>> by_name;
        for (std::uint32_t i = 0; i < m_all.size(); ++i) {
            if (m_all[i].has_metadata && m_scene.ownership.of(i).owner == Owner::Pip &&
                !m_all[i].name.empty()) {
                by_name[m_all[i].name].push_back(i);
            }
        }
        for (const auto& [name, numbers] : by_name) {
            tell_both_managers(numbers);
            for (auto rest = numbers; rest.size() > 1;) {
                tell_copies(take_group(rest));
            }
        }
    }

private:
    // The first and all that are of its Python; they are taken out of the rest.
    std::vector<std::uint32_t> take_group(std::vector<std::uint32_t>& rest) const {
        std::vector<std::uint32_t> group{rest.front()};
        rest.erase(rest.begin());
        std::erase_if(rest, [&](std::uint32_t number) {
            const auto& other = m_all[number];
            if (!are_of_one_python(m_all[group.front()].site, other.site)) {
                return false;
            }
            if (std::none_of(group.begin(), group.end(), [&](std::uint32_t before) {
                    return are_one_editable(m_all[before], other);
                })) {
                group.push_back(number);
            }
            return true;
        });
        return group;
    }

    // Only asked for where something is there twice: in most environments nothing is.
    const std::vector<Loss>& losses() {
        if (!m_losses) {
            m_losses = find_losses(m_scene);
        }
        return *m_losses;
    }
    // Is the pair told as who wrote over whom?
    bool is_told(const Party& one, const Party& other) {
        return std::any_of(losses().begin(), losses().end(), [&](const Loss& loss) {
            return (loss.victim == one && loss.writer == other) ||
                   (loss.victim == other && loss.writer == one);
        });
    }
    // What the records of the others say that is not so.
    void add_files(CheckFinding& told, const std::vector<std::uint32_t>& group) {
        for (const auto& loss : losses()) {
            if (loss.kind == LossKind::Superseded &&
                std::any_of(group.begin(), group.end(), [&](std::uint32_t number) {
                    return loss.victim == party_of(number);
                })) {
                for (const auto* files : {&loss.replaced, &loss.gone, &loss.changed}) {
                    told.files.insert(told.files.end(), files->begin(), files->end());
                }
            }
        }
        std::sort(told.files.begin(), told.files.end());
        told.files.erase(std::unique(told.files.begin(), told.files.end()), told.files.end());
    }

    // pip's, and conda's record of the same. Of several of pip's, the one installed last.
    void tell_both_managers(const std::vector<std::uint32_t>& numbers) {
        std::optional<std::uint32_t> last;
        for (const auto number : numbers) {
            if (m_scene.ownership.of(number).conda &&
                (!last || m_all[number].installed_ns > m_all[*last].installed_ns)) {
                last = number;
            }
        }
        if (!last) {
            return;
        }
        const auto& owned = m_scene.ownership.of(*last);
        const Party pip = party_of(*last);
        const Party conda{Claim::By::Conda, *owned.conda};
        if (is_told(pip, conda)) {
            return;
        }
        const auto& distribution = m_all[*last];
        const auto& package = m_scene.inventory.conda[conda.package];
        CheckFinding told;
        auto& finding = told.finding;
        finding.code = "CE101";
        finding.severity = Severity::Warning;
        const auto manager = manager_of(m_scene, pip);
        finding.title = fmt::format("conda and {} both have {}: {} and {}", manager,
                                    printable(distribution.name), printable(package.version),
                                    printable(distribution.version));
        finding.evidence = {record_evidence(m_scene, conda), record_evidence(m_scene, pip)};
        const bool pip_last = owned.took_over || distribution.installed_ns >= package.written_ns;
        finding.cause = fmt::format("Python imports {}. The next install, update or removal by "
                                    "either writes over what the other counts as its own.",
                                    owned_title(m_scene, pip_last ? pip : conda));
        if (is_own_work(m_scene, pip)) {
            finding.fix = Fix{"what was built here and conda's package need two environments", {}};
        } else {
            finding.fix = own_fix(
                m_scene, finding,
                fmt::format("takes {} away, so that conda's stays", owned_title(m_scene, pip)));
            told.repairs = {uninstall(m_scene, pip), restore(m_scene, conda, {})};
        }
        told.subject = distribution.name;
        told.told_at_prompt = true;
        told.line = fmt::format("{} is now here from conda ({}) and from {} ({})",
                                printable(distribution.name), printable(package.version), manager,
                                printable(distribution.version));
        m_found.push_back(std::move(told));
    }

    void tell_copies(std::vector<std::uint32_t> group) {
        if (group.size() < 2) {
            return;
        }
        const auto& sites = m_scene.inventory.sites;
        // What setup.py develop put on the path comes after every directory of packages.
        const auto site_of = [&](std::uint32_t number) {
            return m_all[number].kind == facts::DistributionKind::EggLink
                       ? sites.end() - sites.begin()
                       : std::find(sites.begin(), sites.end(), m_all[number].site) - sites.begin();
        };
        // The one that is imported first: of the first site, there the one installed last.
        std::stable_sort(group.begin(), group.end(), [&](std::uint32_t left, std::uint32_t right) {
            return std::pair(site_of(left), -m_all[left].installed_ns) <
                   std::pair(site_of(right), -m_all[right].installed_ns);
        });
        const auto& imported = m_all[group[0]];
        const auto& next = m_all[group[1]];
        const bool one_site = site_of(group.front()) == site_of(group.back());
        CheckFinding told;
        auto& finding = told.finding;
        finding.code = "CE105";
        finding.severity = Severity::Warning;
        std::vector<std::string> versions;
        for (const auto number : group) {
            versions.push_back(printable(m_all[number].version));
            finding.evidence.push_back(record_evidence(m_scene, party_of(number)));
        }
        std::reverse(versions.begin(), versions.end());
        const auto what = fmt::format(
            "{} is here {}: {}", printable(imported.name),
            group.size() == 2 ? "twice" : fmt::format("{} times", group.size()), listed(versions));
        finding.title = what;
        if (site_of(group[0]) == site_of(group[1]) && imported.installed_ns == next.installed_ns) {
            finding.cause = "Which of them Python names, and whose files are there, is chance.";
        } else if (one_site) {
            finding.cause = fmt::format("The files are those of {}, which was installed last; what "
                                        "version Python and pip tell is chance.",
                                        printable(imported.version));
            add_uninstalls(told, group);
        } else {
            finding.cause = fmt::format("Python imports {}, whose directory it looks into first.",
                                        printable(imported.version));
        }
        if (told.repairs.empty()) {
            add_kept(told, group);
        }
        if (!told.repairs.empty() && told.repairs.front().kind == Repair::Kind::RestoreKept) {
            finding.fix = own_fix(m_scene, finding,
                                  fmt::format("puts {} back, of which a copy is kept",
                                              printable(told.repairs.front().version)));
        } else if (told.repairs.empty()) {
            finding.fix = Fix{"uninstall all of them and install the one that is wanted",
                              pip_uninstall(m_scene, imported)};
        } else {
            finding.fix =
                own_fix(m_scene, finding,
                        fmt::format("takes away all but {}", printable(imported.version)));
        }
        add_files(told, group);
        told.subject = imported.name;
        told.told_at_prompt = true;
        told.line = what;
        m_found.push_back(std::move(told));
    }

    // Files that the one installed last claims as well stay; without a RECORD only the metadata
    // goes. Nothing is offered where something made by hand would be lost.
    void add_uninstalls(CheckFinding& told, const std::vector<std::uint32_t>& group) const {
        for (std::size_t i = 1; i < group.size(); ++i) {
            if (is_own_work(m_scene, party_of(group[i]))) {
                told.repairs.clear();
                return;
            }
            auto repair = uninstall(m_scene, party_of(group[i]));
            if (!m_all[group[i]].has_record) {
                repair.kind = Repair::Kind::Remove;
            }
            told.repairs.push_back(std::move(repair));
        }
    }

    // A kept build that was being put back when that was interrupted lies beside what it replaces:
    // nobody else can tell which of the two is wanted.
    void add_kept(CheckFinding& told, const std::vector<std::uint32_t>& group) const {
        for (const auto number : group) {
            auto repair = put_back(m_scene, m_all[number].name, m_all[number].version);
            if (repair && repair->version == m_all[number].version) {
                told.repairs.push_back(std::move(*repair));
                return;
            }
        }
    }

    const CheckScene& m_scene;
    const std::vector<Distribution>& m_all;
    std::vector<CheckFinding>& m_found;
    std::optional<std::vector<Loss>> m_losses;
};

} // namespace

void find_duplicates(const CheckScene& scene, std::vector<CheckFinding>& found) {
    Duplicates(scene, found).find();
}

} // namespace cudaenv::plan
