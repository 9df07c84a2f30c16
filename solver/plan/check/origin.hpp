// Where the distributions of an environment came from, and what of that is remembered when an
// installer has taken the records away. Pure: the daemon keeps what it is told here.
#pragma once

#include "solver/facts/inventory.hpp"
#include "solver/facts/seen_distribution.hpp"
#include "solver/plan/check/ownership.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan {

// By the distribution's own metadata: direct_url.json, an egg-link, a version that only a checkout
// has ("1.12.0a0+git664058f"), setup.py install. Of one that conda owns it tells how conda's
// package was built; seen_in() knows better.
facts::Origin origin_of(const facts::Distribution& distribution);
// Its directory, or git+URL@commit; empty: not known.
std::string source_of(const facts::Distribution& distribution);

// What is to be remembered of an environment as it is now, by name, each name once: of several the
// one that was made by hand, else the one installed last. What conda or the system owns is a Wheel.
std::vector<facts::SeenDistribution> seen_in(const facts::Inventory& inventory,
                                             const Ownership& ownership);

// What is remembered after a look. A Built or Editable one that something else has replaced, or
// that is gone (an upgrade first takes away), stays as it was until it is there again, built or
// editable, in any version, or its name is in `ignored`.
std::vector<facts::SeenDistribution>
remember(const std::vector<facts::SeenDistribution>& previous,
         std::vector<facts::SeenDistribution> now,
         const std::set<std::string, std::less<>>& ignored = {});

} // namespace cudaenv::plan
