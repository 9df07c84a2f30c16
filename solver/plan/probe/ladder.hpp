// The whole ladder in its order: what was reported, each rung judged, and what was asked for and is
// not in the report. Pure; only for solver/plan/probe.
#pragma once

#include "solver/plan/probe/verdict.hpp"

#include <vector>

namespace cudaenv::plan::probe {

std::vector<Placed> climb(const Scene& scene);

} // namespace cudaenv::plan::probe
