#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/file_kind.hpp"
#include "check/rules/install_text.hpp"
#include "check/rules/installers.hpp"
#include "check/rules/origin.hpp"
#include "check/rules/parties.hpp"
#include "check/rules/repairs.hpp"
#include "check/rules/rules.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

using facts::Distribution;
using facts::DistributionKind;
using facts::Leftover;
using facts::LeftoverKind;

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
        report(context, "CE106", "no-metadata", distribution.name,
               {{"package", rules::title_of(distribution)},
                {"record", yes_if(has_record)},
                {"command", has_record ? pip_reinstall(context, distribution) : std::string()}});
    found.finding.evidence.push_back({absolute_path(context, distribution.metadata), 0,
                                      has_record ? "contains a RECORD" : "contains no RECORD"});
    found.files.push_back(distribution.metadata);
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
    auto found = report(context, "CE106", "conda-metadata", distribution.name,
                        {{"victim", owned_title(context, party)}});
    found.finding.evidence.push_back({absolute_path(context, lost), 0, "missing"});
    found.files.push_back(lost);
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
    auto found = report(context, "CE106", "no-record", distribution.name, std::move(arguments));
    found.finding.evidence.push_back(
        {absolute_path(context, distribution.metadata), 0,
         "INSTALLER says " + printable(distribution.installer) + ", which always writes a RECORD"});
    found.files.push_back(distribution.metadata);
    findings.push_back(std::move(found));
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

} // namespace

void find_leftovers(const CheckContext& context, std::vector<CheckFinding>& findings) {
    report_interrupted(context, findings);
    report_incomplete(context, findings);
    report_stale_egg_info(context, findings);
}

} // namespace cudaenv::rules
