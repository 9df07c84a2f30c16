// Looks at what lies where the records of an environment say that their files lie. Law: every
// claimed path is looked at once (lstat), and what is read beyond that is read only where something
// speaks against it; nothing is written, and nothing that is not a regular file is opened.
#pragma once

#include "base/goes_on.hpp"
#include "check/inventory/digest_cache.hpp"
#include "solver/facts/claims.hpp"
#include "solver/facts/examined.hpp"

#include <cstddef>
#include <cstdint>

namespace cudaenv::inventory {

// What it took.
struct ExaminationCost {
    std::size_t looked_at = 0; // paths
    std::size_t from_cache = 0;
    std::size_t hashed = 0;
    std::uint64_t bytes = 0; // that were hashed
};

// Holds each path that is not what all its records say; one of another content, or whose claims
// only its digest distinguishes, with its digest. Of what differs in healthy environments
// (plan::is_ordinary_difference) nothing is held, nor is it looked at. A file that may not be read,
// or that changes meanwhile, is Unreadable. `threads`: at most so many, 0: as many as there are
// cores, up to 8; fewer where few descriptors are left for them. Once `wanted` says no, what is
// held is of no use. 100 ms of one core for 60,000 files of which none is read, less with more.
facts::Examined examine(const facts::Inventory& inventory, const facts::Claims& claims,
                        DigestCache& cache, unsigned threads = 0, ExaminationCost* cost = nullptr,
                        const GoesOn& wanted = {});

} // namespace cudaenv::inventory
