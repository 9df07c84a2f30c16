// The changes that would make a request solvable, cheapest first; each is a solve that succeeded.
// Internal to solver/plan.
#pragma once

#include "solver/plan/conflict_search.hpp"

namespace cudaenv::plan {

// `cores`: what excludes each other, from ConflictSearch::cores().
std::vector<RankedFix> fixes_for(const ConflictSearch& search, const std::vector<Core>& cores);

} // namespace cudaenv::plan
