// What a rung that went well says in its line: "machine code for sm_90, result right". Pure; only
// for kernels/judge.
#pragma once

#include "kernels/judge/scene.hpp"

#include <string>

namespace cudaenv::judge {

std::string detail_of(const Scene& scene, const facts::ProbeRung& rung);

} // namespace cudaenv::judge
