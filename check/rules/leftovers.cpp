#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/shell_word.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/file_kind.hpp"
#include "check/rules/origin.hpp"
#include "check/rules/parties.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

using facts::Distribution;
using facts::DistributionKind;
using facts::Leftover;
using facts::LeftoverKind;

// A finding about one file, its evidence with that text.
CheckFinding of_file(const CheckContext& context, std::string_view situation, std::string subject,
                     facts::Arguments arguments, const std::string& path, std::string text) {
    auto found = report(context, "CE106", situation, std::move(subject), std::move(arguments));
    found.finding.evidence.push_back({absolute_path(context, path), 0, std::move(text)});
    found.files.push_back(path);
    return found;
}

// Some version of what was renamed is installed; what can only be built again, in that version.
bool is_installed(const CheckContext& context, const Leftover& left, bool build) {
    const auto& all = context.inventory.distributions;
    return std::ranges::any_of(all, [&](const Distribution& one) {
        return one.name == left.name && one.has_metadata && (!build || one.version == left.version);
    });
}

// It can only be built again, not downloaded.
bool is_build(const CheckContext& context, const Leftover& left) {
    return is_own_version(left.version) || std::ranges::any_of(context.seen, [&](const auto& seen) {
               return seen.name == left.name && seen.version == left.version &&
                      seen.origin != facts::Origin::Wheel;
           });
}

// One finding for all: an uninstall leaves several, and not each of them says which distribution
// it was.
void report_interrupted(const CheckContext& context, std::vector<CheckFinding>& findings) {
    CheckFinding left_over;
    const Leftover* only_copy = nullptr;
    for (const auto& left : context.inventory.leftovers) {
        if (left.kind != LeftoverKind::InterruptedUninstall) {
            continue;
        }
        if (only_copy == nullptr && !left.name.empty() &&
            !is_installed(context, left, is_build(context, left))) {
            only_copy = &left;
        }
        if (left_over.subject.empty()) {
            left_over.subject = left.name;
        }
        left_over.files.push_back(left.path);
        left_over.finding.evidence.push_back(
            {absolute_path(context, left.path), 0,
             left.name.empty() ? "renamed by an installer" : "was " + title_of(left)});
        left_over.repairs.emplace_back(Remove{left.path});
    }
    if (left_over.files.empty()) {
        return;
    }
    auto subject = only_copy != nullptr        ? only_copy->name
                   : left_over.subject.empty() ? printable(file_name(left_over.files.front()))
                                               : left_over.subject;
    CheckFinding found;
    if (only_copy != nullptr) {
        const bool build = is_build(context, *only_copy);
        found = report(
            context, "CE106", "only-copy", std::move(subject),
            {{"package", title_of(*only_copy)},
             {"build", yes_if(build)},
             {"command", build ? std::string()
                               : pip_install(context, nullptr,
                                             {"--no-deps", pip_requirement(only_copy->name,
                                                                           only_copy->version)})}});
    } else {
        found = report(context, "CE106", "interrupted-uninstall", std::move(subject),
                       {{"n", grouped(left_over.files.size())}});
        found.repairs = std::move(left_over.repairs);
    }
    found.files = std::move(left_over.files);
    found.finding.evidence = std::move(left_over.finding.evidence);
    findings.push_back(std::move(found));
}

void report_without_metadata(const CheckContext& context, const Distribution& distribution,
                             std::vector<CheckFinding>& findings) {
    const bool has_record = distribution.has_record;
    auto found =
        of_file(context, "no-metadata", distribution.name,
                {{"package", rules::title_of(distribution)},
                 {"record", yes_if(has_record)},
                 {"command", has_record ? pip_reinstall(context, distribution) : std::string()}},
                distribution.metadata, has_record ? "contains a RECORD" : "contains no RECORD");
    if (!has_record) {
        found.repairs.emplace_back(Remove{distribution.metadata});
    }
    findings.push_back(std::move(found));
}

// pip and importlib.metadata no longer see it; conda does.
void report_conda_without_metadata(const CheckContext& context, std::uint32_t number,
                                   std::vector<CheckFinding>& findings) {
    const auto& distribution = context.inventory.distributions[number];
    const auto lost = distribution.metadata + "/METADATA";
    const Party party{facts::Claim::By::Conda, *context.ownership.of(number).conda};
    auto found = of_file(context, "conda-metadata", distribution.name,
                         {{"victim", owned_title(context, party)}}, lost, "missing");
    found.repairs.push_back(restore(context, party, {lost}));
    findings.push_back(std::move(found));
}

void report_without_record(const CheckContext& context, const Distribution& distribution,
                           std::vector<CheckFinding>& findings) {
    facts::Arguments arguments{{"package", rules::title_of(distribution)}};
    if (is_of_an_index(distribution)) {
        arguments.emplace_back(
            "command",
            pip_install(context, &distribution,
                        {is_uv(distribution.installer) ? "--reinstall" : "--ignore-installed",
                         "--no-deps", pip_requirement(distribution.name, distribution.version)}));
    } else {
        arguments.emplace_back("command", "");
        arguments.emplace_back("source", printable(source_of(distribution)));
    }
    findings.push_back(of_file(
        context, "no-record", distribution.name, std::move(arguments), distribution.metadata,
        "INSTALLER says " + printable(distribution.installer) + ", which always writes a RECORD"));
}

// Does the record of the conda package that contains the distribution list that file?
bool has_conda_claim(const CheckContext& context, std::uint32_t number, std::string_view path) {
    const auto& owned = context.ownership.of(number);
    if (owned.owner != Owner::Conda || !owned.conda) {
        return false;
    }
    const auto claims = context.claims.of(path);
    return std::ranges::any_of(claims, [&](const facts::Claim& claim) {
        return claim.by == facts::Claim::By::Conda && claim.package == *owned.conda;
    });
}

// Each path once, though its METADATA and its RECORD are both missing.
void report_incomplete(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto& all = context.inventory.distributions;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        const auto& distribution = all[i];
        const auto left = [&](LeftoverKind kind) {
            const auto& leftovers = context.inventory.leftovers;
            return std::ranges::any_of(leftovers, [&](const Leftover& one) {
                return one.kind == kind && one.path == distribution.metadata;
            });
        };
        const bool no_metadata = left(LeftoverKind::NoMetadata);
        // Some installers never write a RECORD, and conda's and the system's packages need none.
        const bool no_record = left(LeftoverKind::NoRecord) && is_pip_or_uv(distribution.installer);
        if (no_metadata && distribution.has_record &&
            has_conda_claim(context, i, distribution.metadata + "/METADATA")) {
            report_conda_without_metadata(context, i, findings);
            continue;
        }
        if (context.ownership.of(i).owner != Owner::Pip || (!no_metadata && !no_record) ||
            conda_claims_below(context, distribution.metadata)) {
            continue;
        }
        if (no_metadata) {
            report_without_metadata(context, distribution, findings);
        } else {
            report_without_record(context, distribution, findings);
        }
    }
}

// setup.py develop left an egg-info beside the source, and pip installed that source later: Python
// finds both.
void report_stale_egg_info(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto& all = context.inventory.distributions;
    for (const auto& link : all) {
        if (link.kind != DistributionKind::EggLink || link.source_directory.empty() ||
            link.version.empty()) {
            continue;
        }
        const auto newer = std::ranges::find_if(all, [&](const Distribution& other) {
            return other.kind == DistributionKind::DistInfo && other.name == link.name &&
                   other.direct_url && other.direct_url->local_directory == link.source_directory &&
                   other.version != link.version && other.installed_ns > link.installed_ns;
        });
        if (newer == all.end()) {
            continue;
        }
        auto found =
            report(context, "CE114", "egg-info", link.name,
                   {{"package", rules::title_of(*newer)},
                    {"version", printable(link.version)},
                    {"command", "cd " + shell_word(link.source_directory) + " && " +
                                    shell_word(absolute_path(context, context.inventory.python)) +
                                    " setup.py develop --uninstall"}});
        found.finding.evidence = {
            {link.source_directory, 0, "egg-info of " + rules::title_of(link)},
            {absolute_path(context, link.metadata), 0, "points there, by setup.py develop"},
            {absolute_path(context, newer->metadata), 0,
             rules::title_of(*newer) + ", installed from there later"}};
        found.files = {link.metadata};
        findings.push_back(std::move(found));
    }
}

// What an interrupted conda leaves behind: conda writes the files first and the record last.

bool has_conda_package(const CheckContext& context, const std::string& name) {
    return find_pointer(context.inventory.conda, name, &facts::CondaPackage::name) != nullptr;
}

void report_interrupted_conda(const CheckContext& context, std::vector<CheckFinding>& findings) {
    for (const auto& left : context.inventory.leftovers) {
        if (left.kind == LeftoverKind::InterruptedConda && !has_conda_package(context, left.name)) {
            findings.push_back(of_file(
                context, "conda-interrupted", left.name,
                {{"package", title_of(left)},
                 {"command", conda_install(context, {conda_requirement(left.name, left.version)})}},
                left.path, "its record, renamed by conda"));
        }
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
        findings.push_back(of_file(context, "conda-record", stem, {{"name", printable(stem)}},
                                   note.path, note.reason));
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
        if (distribution.installer == "conda" && distribution.has_metadata &&
            !conda_claims_below(context, distribution.metadata) &&
            !has_conda_package(context, distribution.name)) {
            findings.push_back(of_file(
                context, "conda-no-record", distribution.name,
                {{"package", rules::title_of(distribution)},
                 {"command", conda_install(context, {conda_requirement(distribution.name,
                                                                       distribution.version)})}},
                distribution.metadata, "INSTALLER says conda; no record in conda-meta lists it"));
        }
    }
}

} // namespace

void find_leftovers(const CheckContext& context, std::vector<CheckFinding>& findings) {
    report_interrupted(context, findings);
    report_incomplete(context, findings);
    report_stale_egg_info(context, findings);
}

void find_conda_leftovers(const CheckContext& context, std::vector<CheckFinding>& findings) {
    report_unrecorded_conda(context, findings);
    report_damaged_conda(context, findings);
    report_interrupted_conda(context, findings);
}

} // namespace cudaenv::rules
