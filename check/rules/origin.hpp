// Where the distributions of an environment came from, and what to remember of that for when an
// installer has removed the records. Pure: the daemon stores it.
#pragma once

#include "check/rules/ownership.hpp"
#include "solver/facts/inventory.hpp"
#include "solver/facts/seen_distribution.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::rules {

// By the distribution's own metadata: direct_url.json, an egg-link, a version that only a checkout
// has ("1.12.0a0+git664058f"), setup.py install. For one that conda owns this is how conda's
// package was built; seen_in() treats those as wheels.
facts::Origin origin_of(const facts::Distribution& distribution);
// A version that no index has: of a checkout, or with a custom local label ("0.2+mine"). The labels
// of torch's indexes ("+cu128", "+cpu", "+rocm6.4", "+xpu") do not count.
bool is_own_version(std::string_view version);
// Its directory, or git+URL@commit; empty: unknown.
std::string source_of(const facts::Distribution& distribution);

// What to remember of an environment as it is now, by name, each name once: of several, the one
// that was built by hand, else the one installed last. What conda or the system owns is a Wheel.
std::vector<facts::SeenDistribution> seen_in(const facts::Inventory& inventory,
                                             const Ownership& ownership);

// Was it gone for so long before the other was installed that this was not an upgrade?
bool was_gone_before(const facts::SeenDistribution& was, std::int64_t installed_ns);

// What is remembered after an examination at `now_ns` since the epoch. A Built, Editable or Kept
// distribution that something else has replaced, or that is gone (an upgrade removes first), stays
// remembered until it is there again, built or editable, in any version, or until another is
// installed long after it was gone.
std::vector<facts::SeenDistribution> remember(const std::vector<facts::SeenDistribution>& previous,
                                              std::vector<facts::SeenDistribution> now,
                                              std::int64_t now_ns);

} // namespace cudaenv::rules
