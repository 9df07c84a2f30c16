// The environment that a resolution is for: its Python, what is installed in it, and who installs
// there.
#pragma once

#include "protocol/caller.hpp"
#include "solver/facts/environment.hpp"
#include "solver/facts/host.hpp"
#include "solver/resolve/request.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::daemon {

// "name==version" of its conda packages and Python distributions, sorted.
std::vector<std::string> names_and_versions(const facts::EnvironmentFacts& facts);

// As it was read; none: one that does not exist, whose commands create one.
resolve::KnownEnvironment known_environment(const std::optional<facts::EnvironmentFacts>& facts,
                                            const facts::Host& host,
                                            const protocol::Caller& caller);

} // namespace cudaenv::daemon
