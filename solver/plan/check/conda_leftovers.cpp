// What a conda that was killed leaves: files first, its record last.
#include "solver/plan/check/evidence.hpp"
#include "solver/plan/check/file_kind.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/leftovers.hpp"
#include "solver/plan/check/parties.hpp"
#include "solver/plan/check/rules.hpp"
#include "solver/plan/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::plan {

namespace {

using facts::LeftoverKind;

void tell_interrupted_conda(const CheckScene& scene, std::vector<CheckFinding>& found) {
    for (const auto& left : scene.inventory.leftovers) {
        const auto& packages = scene.inventory.conda;
        if (left.kind != LeftoverKind::InterruptedConda ||
            std::any_of(packages.begin(), packages.end(),
                        [&](const auto& package) { return package.name == left.name; })) {
            continue;
        }
        auto told = begin_leftover(left.name);
        auto& finding = told.finding;
        finding.severity = Severity::Warning;
        finding.title =
            fmt::format("conda was replacing or removing {}, and did not finish", title_of(left));
        finding.evidence.push_back({absolute_path(scene, left.path), 0, "its record, moved aside"});
        finding.cause =
            "conda moves what it takes away to names that end in .c~ until all is done. "
            "It counts the package as not installed; what is there of it, and of what "
            "was to replace it, is on no record.";
        finding.fix = Fix{"installs it again; the .c~ files can go then",
                          conda_install(scene, {conda_requirement(left.name, left.version, {})})};
        told.files.push_back(left.path);
        found.push_back(std::move(told));
    }
}

// Written last, and by half where conda was killed.
void tell_damaged_conda(const CheckScene& scene, std::vector<CheckFinding>& found) {
    for (const auto& note : scene.inventory.notes) {
        constexpr std::string_view k_end = ".json";
        if (!note.damaged || !note.path.starts_with("conda-meta/") || !note.path.ends_with(k_end)) {
            continue;
        }
        auto stem = std::string(file_name(note.path));
        stem.resize(stem.size() - k_end.size());
        auto told = begin_leftover(stem);
        auto& finding = told.finding;
        finding.severity = Severity::Warning;
        finding.title = fmt::format("conda's record of {} is damaged", printable(stem));
        finding.evidence.push_back({absolute_path(scene, note.path), 0, note.reason});
        finding.cause = "conda may stop at it whatever it is asked for, and nothing here is known "
                        "to be of that package.";
        finding.fix = Fix{"NAME-VERSION-BUILD are in the file's name: take the file away, and "
                          "`conda install --force-reinstall NAME=VERSION=BUILD`",
                          {}};
        told.files.push_back(note.path);
        found.push_back(std::move(told));
    }
}

// Have all of conda's records been read?
bool knows_condas_records(const facts::Inventory& inventory) {
    return !inventory.conda.empty() &&
           std::none_of(inventory.notes.begin(), inventory.notes.end(),
                        [](const auto& note) { return note.path.starts_with("conda-meta"); });
}

// conda lays down the files first and its record last.
void tell_unrecorded_conda(const CheckScene& scene, std::vector<CheckFinding>& found) {
    if (!knows_condas_records(scene.inventory)) {
        return;
    }
    for (const auto& distribution : scene.inventory.distributions) {
        const auto& packages = scene.inventory.conda;
        if (distribution.installer != "conda" || !distribution.has_metadata ||
            conda_claims_below(scene, distribution.metadata) ||
            std::any_of(packages.begin(), packages.end(),
                        [&](const auto& package) { return package.name == distribution.name; })) {
            continue;
        }
        auto told = begin_leftover(distribution.name);
        auto& finding = told.finding;
        finding.severity = Severity::Warning;
        finding.title = fmt::format("{} was laid down by conda, and conda has no record of it",
                                    plan::title_of(distribution));
        finding.evidence.push_back({absolute_path(scene, distribution.metadata), 0,
                                    "INSTALLER says conda; no record in conda-meta names it"});
        finding.cause = "An install by conda that did not come to its end leaves it so. Conda does "
                        "not count it as installed, and it may not be there whole.";
        finding.fix = Fix{
            "installs it",
            conda_install(scene, {conda_requirement(distribution.name, distribution.version, {})})};
        told.files.push_back(distribution.metadata);
        found.push_back(std::move(told));
    }
}

} // namespace

void find_conda_leftovers(const CheckScene& scene, std::vector<CheckFinding>& found) {
    tell_unrecorded_conda(scene, found);
    tell_damaged_conda(scene, found);
    tell_interrupted_conda(scene, found);
}

} // namespace cudaenv::plan
