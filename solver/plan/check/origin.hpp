// Where the distributions of an environment came from, and what of that is remembered when an
// installer has taken the records away. Pure: the daemon keeps what it is told here.
#pragma once

#include "solver/facts/inventory.hpp"
#include "solver/facts/seen_distribution.hpp"
#include "solver/plan/check/ownership.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan {

// By the distribution's own metadata: direct_url.json, an egg-link, a version that only a checkout
// has ("1.12.0a0+git664058f"), setup.py install. Of one that conda owns it tells how conda's
// package was built; seen_in() knows better.
facts::Origin origin_of(const facts::Distribution& distribution);
// One that no index has: of a checkout, or with a local part of one's own ("0.2+mine"). Those of
// torch's indexes ("+cu128", "+cpu", "+rocm6.4", "+xpu") are not.
bool is_own_version(std::string_view version);
// Its directory, or git+URL@commit; empty: not known.
std::string source_of(const facts::Distribution& distribution);

// What is to be remembered of an environment as it is now, by name, each name once: of several the
// one that was made by hand, else the one installed last. What conda or the system owns is a Wheel.
std::vector<facts::SeenDistribution> seen_in(const facts::Inventory& inventory,
                                             const Ownership& ownership);

// Was it gone for so long before the other was installed that no upgrade has replaced it?
bool was_gone_before(const facts::SeenDistribution& was, std::int64_t installed_ns);

// What is remembered after a look, which is at `now_ns` since the epoch. A Built, Editable or Kept
// one that something else has replaced, or that is gone (an upgrade first takes away), stays as it
// was until it is there again, built or editable, in any version, or another is installed long
// after it was gone.
std::vector<facts::SeenDistribution> remember(const std::vector<facts::SeenDistribution>& previous,
                                              std::vector<facts::SeenDistribution> now,
                                              std::int64_t now_ns);

} // namespace cudaenv::plan
