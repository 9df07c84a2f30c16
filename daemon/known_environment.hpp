// The environment that a resolution is for: its Python, what is installed in it, and who installs
// there.
#pragma once

#include "protocol/caller.hpp"
#include "solver/facts/host.hpp"
#include "solver/resolve/request.hpp"

#include <string>

namespace cudaenv::daemon {

// Of a prefix that is no environment, or of none: one that does not exist, whose commands create
// one.
resolve::KnownEnvironment known_environment(const std::string& prefix, const facts::Host& host,
                                            const protocol::Caller& caller);

} // namespace cudaenv::daemon
