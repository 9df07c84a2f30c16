// Why an answer has not the newest of what was asked: for each such package the newest is asked for
// by its version, and what prevents it. Internal to solver/resolve.
#pragma once

#include "solver/resolve/answer.hpp"
#include "solver/resolve/outcome.hpp"

namespace cudaenv::resolve {

// Costs an unnarrowed universe and a solve for each package held back.
Result<std::vector<Choice>> choices_of(const Request& request, const facts::Host& host,
                                       std::span<const Channel* const> channels,
                                       const Answer& answer);

} // namespace cudaenv::resolve
