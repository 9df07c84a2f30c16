// Judges one reported rung: right, or a finding. Pure; only for
// kernels/judge.
#pragma once

#include "kernels/judge/scene.hpp"

#include <string>

namespace cudaenv::judge {

// Not tried, for that reason.
Finding skipped(std::string detail);
// `is_broken_below`: a rung that it rests on failed and has the finding.
Finding judge_rung(const Scene& scene, const facts::ProbeRung& rung, bool is_broken_below);

} // namespace cudaenv::judge
