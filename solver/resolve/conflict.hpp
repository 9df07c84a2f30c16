// Why there is no answer, and what would give one. The reasons are a minimal set of facts and
// wishes that exclude each other, found by leaving them out one at a time; each fix is a solve that
// succeeded. Internal to solver/resolve.
#pragma once

#include "solver/resolve/attempt.hpp"
#include "solver/resolve/conflict_fixes.hpp"
#include "solver/resolve/outcome.hpp"

namespace cudaenv::resolve {

struct ExplainedConflict {
    std::vector<Reason> reasons;
    std::vector<ProposedFix> fixes; // cheapest first
};

// `attempt` was made with Narrowing::None and has no answer.
ExplainedConflict explain_conflict(const Attempt& attempt, const Request& request);
// The reasons alone, without the solves that fixes cost.
std::vector<Reason> conflict_reasons(const Attempt& attempt, const Request& request);

// "torch 1.12.1+cu113", "pytorch 1.7.0 (py3.8_cuda11.0...)": a record as people write it.
std::string display(const specs::PackageRecord& record, const Attempt& attempt);

} // namespace cudaenv::resolve
