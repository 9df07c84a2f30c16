// Why an answer has not the newest of what was asked: for each such package the newest is asked for
// by its version, and what prevents it. Internal to solver/resolve.
#pragma once

#include "solver/resolve/answer.hpp"
#include "solver/resolve/outcome.hpp"

namespace cudaenv::resolve {

// The newer release of what was asked for first that the driver runs by minor version compatibility
// only, "vllm 0.19.1", and its CUDA: decision 24 takes the older one, which it runs in full. None:
// there is none, the request names a version, or it is a framework, of which nearly every driver
// has a newer one in that sense: `explain` says it.
struct NewerRelease {
    std::string name; // "vllm"
    std::string version;
    DottedVersion cuda;
};
Result<std::optional<NewerRelease>> newer_by_minor_compatibility(const Request& request,
                                                                 const facts::Host& host,
                                                                 const Outcome& outcome);

// Costs an unnarrowed universe and a solve for each package held back.
Result<std::vector<Choice>> choices_of(const Request& request, const facts::Host& host,
                                       std::span<const Channel* const> channels,
                                       const Answer& answer);

} // namespace cudaenv::resolve
