// The judged rungs together: the whole ladder, its verdict, and the line that summarises it. Pure;
// only for kernels/judge.
//
// Law: a child that was lost decides, then the lowest rung that is broken; a busy GPU is not a
// failure where another one served; a rung that was not run is not right.
#pragma once

#include "kernels/judge/scene.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::judge {

// A rung of the ladder with its finding, in the ladder's order.
struct Placed {
    facts::ProbeStep step;
    std::optional<int> gpu;
    double took_ms = 0;
    Finding finding;
};

// ladder.cpp: what was reported, each rung judged, and what was asked for and is not in the report.
std::vector<Placed> climb(const Scene& scene);

using facts::word_of;
// It ran, maybe with a warning.
bool is_right(const Placed& placed, facts::ProbeStep step);

// It failed, and not by what the environment has alone: nothing can be built on it.
bool is_broken(const Placed& placed);

// By its word; none: it is not one.
std::optional<ProbeVerdict> verdict_named(std::string_view word);

ProbeVerdict verdict_of(const std::vector<Placed>& steps);
std::string summary_of(const Scene& scene, const std::vector<Placed>& steps, ProbeVerdict verdict);
// ProbeOutcome::not_looked_at.
std::vector<std::string> not_looked_at(const Scene& scene, const std::vector<Placed>& steps);

} // namespace cudaenv::judge
