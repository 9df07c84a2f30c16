// What a rung that went well says in its line: "machine code for sm_90, result right". Pure; only
// for solver/plan/probe.
#pragma once

#include "solver/plan/probe/scene.hpp"

#include <string>

namespace cudaenv::plan::probe {

std::string detail_of(const Scene& scene, const facts::ProbeRung& rung);

} // namespace cudaenv::plan::probe
