// The answer: which packages, toolkit and compiler fit together on a host, or the smallest changes
// that would make them fit. Pure; the channels are a port.
//
// Laws: CUDA asked for is CUDA given. Every answer satisfies every depends and constrains of every
// record in it. "No solution" is an outcome, with at least one change that was proved by solving it
// wherever one exists within the search's bounds.
#pragma once

#include "base/result.hpp"
#include "solver/facts/host.hpp"
#include "solver/resolve/channel.hpp"
#include "solver/resolve/outcome.hpp"
#include "solver/resolve/request.hpp"

#include <span>

namespace cudaenv::resolve {

// No channels: the embedded catalogue answers. Errors: bad specs, missing packages, unreadable
// channels.
Result<Outcome> resolve(const Request& request, const facts::Host& host,
                        std::span<const Channel* const> channels);

} // namespace cudaenv::resolve
