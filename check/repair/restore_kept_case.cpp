#include "check/repair/repair_case.hpp"
#include "check/repair/restore_kept.hpp"

namespace cudaenv::repair {

namespace {

// All records of a kept copy come back together: those of what replaced it are there until then.
Part part_of_kept(const StagedFile& file) {
    return is_metadata(file.path) ? Part::Records : Part::Content;
}

} // namespace

Result<Commit> prepare(const rules::RestoreKept& repair, const Preparation& with) {
    CUDAENV_TRY(auto staged,
                stage_kept(with.prefix, with.staging, KeptStore(with.places.state_directory),
                           with.inventory, with.claims, repair.distribution, repair.version,
                           with.wanted));
    return Commit([staged = std::move(staged), with](Part part) -> Result<void> {
        for (const StagedFile& file : staged.files) {
            if (part_of_kept(file) == part) {
                (void)goes_on(with.wanted); // reports progress; what is begun is ended
                CUDAENV_TRY_VOID(put_back(with.prefix, with.staging, with.claims, file));
            }
        }
        for (const Uninstallation& planned : staged.replaced) {
            CUDAENV_TRY_VOID(commit(planned, part, with));
        }
        return {};
    });
}

} // namespace cudaenv::repair
