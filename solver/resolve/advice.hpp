// What is worth saying beside an answer: warnings about this host, what is missing, the verdicts it
// rests on. Codes CE2xx, docs/findings.md.
#pragma once

#include "solver/resolve/attempt.hpp"
#include "solver/resolve/outcome.hpp"

namespace cudaenv::resolve {

// Fills `outcome.warnings`, `.missing` and `.runs`.
void advise(const Request& request, const Attempt& attempt,
            const std::vector<const specs::PackageRecord*>& records, Outcome& outcome);

} // namespace cudaenv::resolve
