// Keeping a copy of one distribution as it lies in its environment.
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "check/repair/kept_store.hpp"
#include "solver/facts/inventory.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cudaenv::repair {

struct Keeping {
    KeptDistribution kept;
    std::vector<std::string> outside; // claimed and not kept: they lie out of the environment
    std::vector<std::string> changed; // kept as they are, which is not what the RECORD says
    bool shared = false;              // at least one copy shares its blocks with the original
};

// Replaces an older copy of the same version. `now`: seconds since the epoch. Codes: "no-record",
// "files-missing", "no-space" (before anything is written where it can be known), "no-state"
// where there is no state directory for the copy, k_stopped,
// with which nothing is left behind, and those of failed_on.
Result<Keeping> keep(const KeptStore& store, const facts::Inventory& inventory,
                     const facts::Distribution& distribution, std::string source, std::int64_t now,
                     const GoesOn& wanted = {});

} // namespace cudaenv::repair
