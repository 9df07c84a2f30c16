// The changes that would make a request solvable, cheapest first; each is a solve that succeeded.
// Internal to solver/plan.
#pragma once

#include "solver/resolve/conflict_search.hpp"

namespace cudaenv::resolve {

// A fix before it is shown. Where it is a question asked differently, `asked` is that question: its
// text is `lead` and then what the question's own answer is.
struct ProposedFix {
    RankedFix fix;
    std::string lead;
    std::optional<Request> asked;
};

// `cores`: what excludes each other, from ConflictSearch::cores(). Cheapest first.
std::vector<ProposedFix> fixes_for(const ConflictSearch& search, const std::vector<Core>& cores);

} // namespace cudaenv::resolve
