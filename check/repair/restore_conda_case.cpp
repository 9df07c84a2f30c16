#include "base/shell_word.hpp"
#include "check/repair/package_caches.hpp"
#include "check/repair/repair_case.hpp"
#include "check/repair/restore_conda.hpp"
#include "check/rules/install_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::repair {

namespace {

Part part_of(const StagedFile& file) {
    return !is_metadata(file.path)             ? Part::Content
           : file.is_new                       ? Part::NewRecords
           : file.path.ends_with("/INSTALLER") ? Part::Installer
                                               : Part::Records;
}

// Whether it is all that is done for its findings.
bool is_alone(const Preparation& with) {
    return std::ranges::none_of(with.steps, [&](const RepairStep& other) {
        return &other != &with.step && share_a_finding(with.step, other);
    });
}

} // namespace

// Where nothing was removed for it, the files that can be had are restored.
Result<Commit> prepare(const rules::RestoreConda& repair, const Preparation& with) {
    const facts::CondaPackage& package = with.inventory.conda[repair.package];
    CUDAENV_TRY(auto staged, stage_conda(with.prefix, with.staging, package, repair.files,
                                         extracted_places(package, with.places.package_caches),
                                         with.places.trust, with.wanted));
    if (!staged.missing.empty()) {
        auto failed = unavailable(
            "no-source", fmt::format("no package cache has {} of {} with the digest on record: {}",
                                     staged.missing.size(), files_text(repair.files.size()),
                                     few_of(staged.missing)));
        if (staged.files.empty() || !is_alone(with)) {
            return failed;
        }
        with.outcome.error = std::move(failed).value().message + "; the others are restored";
    }
    if (!staged.without_source.empty()) {
        with.outcome.note =
            fmt::format("{} not restored, because the installer generates them: {}",
                        files_text(staged.without_source.size()), few_of(staged.without_source));
    }
    return Commit([staged = std::move(staged), with](Part part) -> Result<void> {
        if (part == Part::Content) {
            CUDAENV_TRY_VOID(make_directories(with.prefix, staged));
        }
        for (const StagedFile& file : staged.files) {
            if (part_of(file) == part) {
                (void)goes_on(with.wanted); // reports progress; what is begun is ended
                CUDAENV_TRY_VOID(put_back(with.prefix, with.staging, with.claims, file));
            }
        }
        return {};
    });
}

std::string way_out_for(const rules::RestoreConda& repair, const facts::Inventory& inventory,
                        const UserPrograms& programs) {
    const facts::CondaPackage& package = inventory.conda[repair.package];
    const auto what = rules::conda_requirement(package.name, package.version, package.build);
    return what.empty() ? std::string()
                        : programs.conda + " install -p " + shell_word(inventory.prefix) +
                              " --force-reinstall " + shell_word(what);
}

} // namespace cudaenv::repair
