// What is worth saying beside an answer: warnings about this host, what is missing, the facts it
// rests on. Codes CE2xx, docs/findings.md.
#pragma once

#include "solver/plan/attempt.hpp"
#include "solver/plan/outcome.hpp"

namespace cudaenv::plan {

// The note of an answer whose build says nothing of the GPUs that it has code for.
inline constexpr const char* k_gpu_list_unknown =
    "the build's GPU list is not known; its toolkit's was taken";

// Fills `outcome.warnings`, `.missing` and `.notes`.
void advise(const Request& request, const Attempt& attempt,
            const std::vector<const specs::PackageRecord*>& records, Outcome& outcome);

} // namespace cudaenv::plan
