// What one rung that was reported comes to: right, or which explanation it has. Pure; only for
// solver/plan/probe.
#pragma once

#include "solver/plan/probe/scene.hpp"

#include <string>

namespace cudaenv::plan::probe {

// Not tried, and nothing to be said but why.
Finding skipped(std::string detail);
// `is_broken_below`: a rung that it rests on failed; what it was skipped for is told there.
Finding judge_rung(const Scene& scene, const facts::ProbeRung& rung, bool is_broken_below);

} // namespace cudaenv::plan::probe
