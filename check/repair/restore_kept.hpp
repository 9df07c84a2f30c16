// A kept distribution made aside, to be put in the place of what took its own. Law: all of it is
// compared with its digests before the first file of the environment changes.
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "check/repair/kept_store.hpp"
#include "check/repair/restore_conda.hpp"
#include "check/repair/staging.hpp"
#include "check/repair/uninstall.hpp"
#include "solver/facts/claims.hpp"

#include <string>
#include <vector>

namespace cudaenv::repair {

struct KeptRestoration {
    std::vector<StagedFile> files;        // the metadata's last
    std::vector<Uninstallation> replaced; // what of others goes afterwards
};

// Would the environment import it? Codes: "other-python" where it was kept for a Python that the
// environment no longer has, "source-gone" of an editable one.
Result<void> can_be_put_back(const KeptDistribution& kept, const facts::Inventory& inventory);

// Codes: those of can_be_put_back, "not-kept", "damaged" where the copy is not what its manifest
// says, "conda-owns" where conda's package has the name, and those of writing.
Result<KeptRestoration> stage_kept(const PrefixDirectory& prefix, Staging& staging,
                                   const KeptStore& store, const facts::Inventory& inventory,
                                   const facts::Claims& claims, const std::string& name,
                                   const std::string& version, const GoesOn& wanted);

} // namespace cudaenv::repair
