// The whole ladder in its order: what was reported, each rung judged, and what was asked for and is
// not in the report. Pure; only for kernels/judge.
#pragma once

#include "kernels/judge/verdict.hpp"

#include <vector>

namespace cudaenv::judge {

std::vector<Placed> climb(const Scene& scene);

} // namespace cudaenv::judge
