#include "solver/plan/check/leftovers.hpp"

#include "base/shell_word.hpp"
#include "solver/plan/check/evidence.hpp"
#include "solver/plan/check/file_kind.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/installers.hpp"
#include "solver/plan/check/origin.hpp"
#include "solver/plan/check/parties.hpp"
#include "solver/plan/check/repairs.hpp"
#include "solver/plan/check/rules.hpp"
#include "solver/plan/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan {

namespace {

using facts::Distribution;
using facts::DistributionKind;
using facts::Leftover;
using facts::LeftoverKind;

Repair removal(const std::string& path) {
    Repair repair;
    repair.kind = Repair::Kind::Remove;
    repair.path = path;
    return repair;
}

bool is_installed(const CheckScene& scene, std::string_view name) {
    const auto& all = scene.inventory.distributions;
    return std::any_of(all.begin(), all.end(), [&](const Distribution& one) {
        return one.name == name && one.has_metadata;
    });
}

// Nobody can have it again but who built it.
bool is_build(const CheckScene& scene, const Leftover& left) {
    return is_own_version(left.version) ||
           std::any_of(scene.seen.begin(), scene.seen.end(), [&](const auto& seen) {
               return seen.name == left.name && seen.version == left.version &&
                      seen.origin != facts::Origin::Wheel;
           });
}

// All of them at once: one uninstall leaves several, and not each says whose it was.
void tell_interrupted(const CheckScene& scene, std::vector<CheckFinding>& found) {
    auto told = begin_leftover({});
    const Leftover* only_copy = nullptr;
    for (const auto& left : scene.inventory.leftovers) {
        if (left.kind != LeftoverKind::InterruptedUninstall) {
            continue;
        }
        if (only_copy == nullptr && !left.name.empty() &&
            (!is_installed(scene, left.name) || is_build(scene, left))) {
            only_copy = &left;
        }
        if (told.subject.empty()) {
            told.subject = left.name;
        }
        told.files.push_back(left.path);
        told.finding.evidence.push_back(
            {absolute_path(scene, left.path), 0,
             left.name.empty() ? "moved aside by an installer" : "was " + title_of(left)});
        told.repairs.push_back(removal(left.path));
    }
    if (told.files.empty()) {
        return;
    }
    if (told.subject.empty()) {
        told.subject = printable(file_name(told.files.front()));
    }
    auto& finding = told.finding;
    if (only_copy != nullptr) {
        told.repairs.clear(); // they may be the only copy
        told.subject = only_copy->name;
        finding.severity = Severity::Warning;
        finding.title = fmt::format("{} was being replaced or removed, and is not installed now",
                                    title_of(*only_copy));
        const bool build = is_build(scene, *only_copy);
        finding.cause = "pip moves what it takes away to names that begin with ~, and was ended "
                        "before it was done. What it had begun to lay down in its place is on no "
                        "record, and may be imported by half.";
        finding.fix =
            build ? Fix{"what was built here may be whole in these directories: without the ~ and "
                        "with the first letter their names are what they were",
                        {}}
                  : Fix{"installs it; cudaenv check --fix CE106 then takes the rest away",
                        pip_install(
                            scene, nullptr,
                            {"--no-deps", pip_requirement(only_copy->name, only_copy->version)})};
        found.push_back(std::move(told));
        return;
    }
    finding.title =
        told.files.size() == 1
            ? "a directory of an interrupted uninstall is left"
            : fmt::format("{} directories of an interrupted uninstall are left", told.files.size());
    finding.cause = "pip moves what it takes away to names that begin with ~, and was ended before "
                    "it deleted them. Nothing imports them; they take space, and pip warns.";
    finding.fix = own_fix(scene, finding, "takes them away");
    found.push_back(std::move(told));
}

void tell_without_metadata(const CheckScene& scene, const Distribution& distribution,
                           std::vector<CheckFinding>& found) {
    auto told = begin_leftover(distribution.name);
    auto& finding = told.finding;
    finding.title = fmt::format("what is left of {} has no METADATA", plan::title_of(distribution));
    finding.evidence.push_back({absolute_path(scene, distribution.metadata), 0,
                                distribution.has_record ? "holds a RECORD" : "holds no RECORD"});
    finding.cause =
        "Left by an install or uninstall that was not finished, or by a removal of files "
        "that two managers had. Python finds a distribution without a name there, and "
        "files of it may be left that no record has.";
    told.files.push_back(distribution.metadata);
    if (distribution.has_record) {
        finding.fix = Fix{"install it again, and uninstall it where it is not wanted",
                          pip_reinstall(scene, distribution)};
    } else {
        finding.fix = own_fix(scene, finding,
                              "takes the directory away; an install and an uninstall of it "
                              "take away what else is left");
        told.repairs.push_back(removal(distribution.metadata));
    }
    found.push_back(std::move(told));
}

// pip and importlib.metadata do not see it any more; conda does.
void tell_conda_without_metadata(const CheckScene& scene, std::uint32_t number,
                                 std::vector<CheckFinding>& found) {
    const auto& distribution = scene.inventory.distributions[number];
    const auto package = *scene.ownership.of(number).conda;
    const auto lost = distribution.metadata + "/METADATA";
    const Party party{facts::Claim::By::Conda, package};
    auto told = begin_leftover(distribution.name);
    auto& finding = told.finding;
    finding.title = fmt::format("{} has lost its METADATA", owned_title(scene, party));
    finding.evidence.push_back({absolute_path(scene, lost), 0, "a file that is gone"});
    finding.cause = "Python finds a distribution without a name there: pip does not count it as "
                    "installed, and may install another over it.";
    finding.fix = own_fix(scene, finding, "puts conda's files back");
    told.files.push_back(lost);
    told.repairs.push_back(restore(scene, party, {lost}));
    found.push_back(std::move(told));
}

void tell_without_record(const CheckScene& scene, const Distribution& distribution,
                         std::vector<CheckFinding>& found) {
    auto told = begin_leftover(distribution.name);
    auto& finding = told.finding;
    finding.title = fmt::format("{} has lost its RECORD", plan::title_of(distribution));
    finding.evidence.push_back(
        {absolute_path(scene, distribution.metadata), 0,
         "INSTALLER says " + printable(distribution.installer) + ", which always writes one"});
    finding.cause = "Without the list of its files it can be neither upgraded nor uninstalled.";
    told.files.push_back(distribution.metadata);
    if (is_of_an_index(distribution)) {
        finding.fix = Fix{
            "brings a new one",
            pip_install(scene, &distribution,
                        {is_uv(distribution.installer) ? "--reinstall" : "--ignore-installed",
                         "--no-deps", pip_requirement(distribution.name, distribution.version)})};
    } else {
        const auto source = source_of(distribution);
        finding.fix = Fix{"install it again, with --ignore-installed" +
                              (source.empty() ? std::string() : ", from " + printable(source)),
                          {}};
    }
    found.push_back(std::move(told));
}

// Does conda's package that lays the distribution down say that it has that file?
bool has_conda_claim(const CheckScene& scene, std::uint32_t number, std::string_view path) {
    const auto& owned = scene.ownership.of(number);
    if (owned.owner != Owner::Conda || !owned.conda) {
        return false;
    }
    const auto claims = scene.claims.of(path);
    return std::any_of(claims.begin(), claims.end(), [&](const facts::Claim& claim) {
        return claim.by == facts::Claim::By::Conda && claim.package == *owned.conda;
    });
}

// Each path once, though its METADATA and its RECORD are both missing.
void tell_incomplete(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const auto& all = scene.inventory.distributions;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        const auto& distribution = all[i];
        const auto left = [&](LeftoverKind kind) {
            const auto& leftovers = scene.inventory.leftovers;
            return std::any_of(leftovers.begin(), leftovers.end(), [&](const Leftover& one) {
                return one.kind == kind && one.path == distribution.metadata;
            });
        };
        const bool no_metadata = left(LeftoverKind::NoMetadata);
        // Of the makes that never write one, and of conda's and the system's, nothing is missing.
        const bool no_record = left(LeftoverKind::NoRecord) && is_pip_or_uv(distribution.installer);
        if (no_metadata && distribution.has_record &&
            has_conda_claim(scene, i, distribution.metadata + "/METADATA")) {
            tell_conda_without_metadata(scene, i, found);
            continue;
        }
        if (scene.ownership.of(i).owner != Owner::Pip || (!no_metadata && !no_record) ||
            conda_claims_below(scene, distribution.metadata)) {
            continue;
        }
        if (no_metadata) {
            tell_without_metadata(scene, distribution, found);
        } else {
            tell_without_record(scene, distribution, found);
        }
    }
}

// setup.py develop left an egg-info beside the source, and pip installed that source anew: Python
// finds both.
void tell_stale_egg_info(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const auto& all = scene.inventory.distributions;
    for (const auto& link : all) {
        if (link.kind != DistributionKind::EggLink || link.source_directory.empty() ||
            link.version.empty()) {
            continue;
        }
        const auto newer = std::find_if(all.begin(), all.end(), [&](const Distribution& other) {
            return other.kind == DistributionKind::DistInfo && other.name == link.name &&
                   other.direct_url && other.direct_url->local_directory == link.source_directory &&
                   other.version != link.version && other.installed_ns > link.installed_ns;
        });
        if (newer == all.end()) {
            continue;
        }
        CheckFinding told;
        auto& finding = told.finding;
        finding.code = "CE114";
        finding.severity = Severity::Note;
        told.subject = link.name;
        finding.title = fmt::format("the egg-info beside the source of {} says {}",
                                    plan::title_of(*newer), printable(link.version));
        finding.evidence = {
            {link.source_directory, 0, "egg-info of " + plan::title_of(link)},
            {absolute_path(scene, link.metadata), 0, "leads there, by setup.py develop"},
            {absolute_path(scene, newer->metadata), 0,
             plan::title_of(*newer) + ", installed from there later"}};
        finding.cause = "What version Python tells depends on which of the two it finds first.";
        finding.fix = Fix{"takes the older way of installing it back",
                          "cd " + shell_word(link.source_directory) + " && " +
                              shell_word(absolute_path(scene, scene.inventory.python)) +
                              " setup.py develop --uninstall"};
        told.files = {link.metadata};
        found.push_back(std::move(told));
    }
}

} // namespace

CheckFinding begin_leftover(std::string subject) {
    CheckFinding told;
    told.finding.code = "CE106";
    told.finding.severity = Severity::Note;
    told.subject = std::move(subject);
    return told;
}

std::string title_of(const facts::Leftover& left) {
    return printable(left.version.empty() ? left.name : left.name + ' ' + left.version);
}

void find_leftovers(const CheckScene& scene, std::vector<CheckFinding>& found) {
    tell_interrupted(scene, found);
    tell_incomplete(scene, found);
    tell_stale_egg_info(scene, found);
}

} // namespace cudaenv::plan
