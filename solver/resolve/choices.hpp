// Why an answer has not the newest of what was asked: for each such package the newest is asked for
// by its version, and what prevents it. Internal to solver/plan.
#pragma once

#include "solver/resolve/attempt.hpp"
#include "solver/resolve/outcome.hpp"

#include <functional>

namespace cudaenv::resolve {

// `resolve_again` answers a changed request on the same host and channels.
std::vector<Choice> choices_of(const Request& request, const Attempt& answered,
                               const std::vector<const specs::PackageRecord*>& records,
                               const Attempt& unnarrowed,
                               const std::function<Result<Outcome>(const Request&)>& resolve_again);

} // namespace cudaenv::resolve
