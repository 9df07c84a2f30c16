// What an interrupted conda leaves behind: conda writes the files first and the record last.
#include "base/printable.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/file_kind.hpp"
#include "check/rules/install_text.hpp"
#include "check/rules/parties.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

using facts::LeftoverKind;

void report_interrupted_conda(const CheckContext& context, std::vector<CheckFinding>& findings) {
    for (const auto& left : context.inventory.leftovers) {
        const auto& packages = context.inventory.conda;
        if (left.kind != LeftoverKind::InterruptedConda ||
            std::ranges::any_of(packages,
                                [&](const auto& package) { return package.name == left.name; })) {
            continue;
        }
        auto found =
            report(context, "CE106", "conda-interrupted", left.name,
                   {{"package", title_of(left)},
                    {"command",
                     conda_install(context, {conda_requirement(left.name, left.version, {})})}});
        found.finding.evidence.push_back(
            {absolute_path(context, left.path), 0, "its record, renamed by conda"});
        found.files.push_back(left.path);
        findings.push_back(std::move(found));
    }
}

// Written last, and incomplete where conda was killed.
void report_damaged_conda(const CheckContext& context, std::vector<CheckFinding>& findings) {
    for (const auto& note : context.inventory.notes) {
        constexpr std::string_view k_end = ".json";
        if (!note.damaged || !note.path.starts_with("conda-meta/") || !note.path.ends_with(k_end)) {
            continue;
        }
        auto stem = std::string(file_name(note.path));
        stem.resize(stem.size() - k_end.size());
        auto found = report(context, "CE106", "conda-record", stem, {{"name", printable(stem)}});
        found.finding.evidence.push_back({absolute_path(context, note.path), 0, note.reason});
        found.files.push_back(note.path);
        findings.push_back(std::move(found));
    }
}

// Have all of conda's records been read?
bool knows_condas_records(const facts::Inventory& inventory) {
    return !inventory.conda.empty() && std::ranges::none_of(inventory.notes, [](const auto& note) {
        return note.path.starts_with("conda-meta");
    });
}

// conda writes the files first and the record last.
void report_unrecorded_conda(const CheckContext& context, std::vector<CheckFinding>& findings) {
    if (!knows_condas_records(context.inventory)) {
        return;
    }
    for (const auto& distribution : context.inventory.distributions) {
        const auto& packages = context.inventory.conda;
        if (distribution.installer != "conda" || !distribution.has_metadata ||
            conda_claims_below(context, distribution.metadata) ||
            std::ranges::any_of(
                packages, [&](const auto& package) { return package.name == distribution.name; })) {
            continue;
        }
        auto found = report(
            context, "CE106", "conda-no-record", distribution.name,
            {{"package", rules::title_of(distribution)},
             {"command", conda_install(context, {conda_requirement(distribution.name,
                                                                   distribution.version, {})})}});
        found.finding.evidence.push_back(
            {absolute_path(context, distribution.metadata), 0,
             "INSTALLER says conda; no record in conda-meta lists it"});
        found.files.push_back(distribution.metadata);
        findings.push_back(std::move(found));
    }
}

} // namespace

void find_conda_leftovers(const CheckContext& context, std::vector<CheckFinding>& findings) {
    report_unrecorded_conda(context, findings);
    report_damaged_conda(context, findings);
    report_interrupted_conda(context, findings);
}

} // namespace cudaenv::rules
