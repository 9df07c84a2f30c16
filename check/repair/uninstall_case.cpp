#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "check/repair/file_copy.hpp"
#include "check/repair/repair_case.hpp"
#include "check/rules/ownership.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::repair {

namespace {

// Files of the conda packages that the same finding restores, which are neither as conda has them
// nor, by the RECORD, the distribution's: they would stay as they are while the metadata says
// otherwise.
std::vector<std::string> unlike_both(const Preparation& with) {
    std::vector<std::string> unlike;
    for (const RepairStep& other : with.steps) {
        const auto* restore = std::get_if<rules::RestoreConda>(&other.repair);
        if (restore == nullptr || !share_a_finding(with.step, other)) {
            continue;
        }
        const auto& back = restore->files;
        const auto& files = with.inventory.conda[restore->package].files;
        for (const auto& file : files) {
            const std::string path(files.path(file));
            if (file.hash != facts::ClaimHash::Sha256 || rules::is_ordinary_difference(path) ||
                is_one_of(path, back)) {
                continue;
            }
            const auto place = with.prefix.place(path);
            const auto digest = place ? digest_of(place->directory.get(), place->name, with.wanted)
                                      : Result<facts::Sha256Digest>(file.sha256);
            if (digest && *digest != file.sha256) {
                unlike.push_back(path);
            }
        }
    }
    return unlike;
}

} // namespace

Result<void> commit(const Uninstallation& planned, Part part, const Preparation& with) {
    switch (part) {
    case Part::Take:
        return take_files(with.prefix, with.staging, with.claims, planned);
    case Part::TakeShared:
        return take_shared_metadata(with.staging, planned);
    case Part::TakeRecords:
        return take_metadata(with.prefix, with.staging, planned);
    case Part::NewRecords:
    case Part::Content:
    case Part::Records:
    case Part::Installer:
        break;
    }
    return {};
}

Result<Commit> prepare(const rules::UninstallPip& repair, const Preparation& with) {
    const auto& all = with.inventory.distributions;
    const auto one = std::ranges::find_if(all, [&](const auto& distribution) {
        return distribution.name == repair.distribution &&
               (repair.metadata.empty() || distribution.metadata == repair.metadata);
    });
    if (one == all.end()) {
        return unavailable("not-installed",
                           printable(repair.distribution) + " is no longer installed");
    }
    CUDAENV_TRY(auto planned,
                plan_uninstall(with.prefix, with.inventory, with.claims,
                               static_cast<std::uint32_t>(one - all.begin()), {}, with.wanted));
    if (const auto unlike = unlike_both(with); !unlike.empty()) {
        return unavailable("unlike-both",
                           fmt::format("{} stays installed: its RECORD does not list files of "
                                       "conda's that it overwrote: {}",
                                       printable(repair.distribution), few_of(unlike)));
    }
    auto& note = with.outcome.note;
    if (!planned.left.empty()) {
        note = fmt::format("{} kept, because the content is not what its RECORD says: {}",
                           files_text(planned.left.size()), few_of(planned.left));
    }
    if (!planned.outside.empty()) {
        note += (note.empty() ? "" : "; ") + fmt::format("{} kept, outside the environment: {}",
                                                         files_text(planned.outside.size()),
                                                         few_of(planned.outside));
    }
    return Commit(
        [planned = std::move(planned), with](Part part) { return commit(planned, part, with); });
}

} // namespace cudaenv::repair
