// What the judged rungs come to together: the verdict, and the one line that tells it. Pure; only
// for solver/plan/probe.
//
// Law: a child that was lost decides, then the lowest rung that is broken; a GPU that is busy is no
// failure where another one served; what was not run is not right, of no GPU.
#pragma once

#include "solver/plan/probe/scene.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan::probe {

// A rung of the ladder with what is to be said of it, in the ladder's order.
struct Placed {
    facts::ProbeStep step;
    std::optional<int> gpu;
    double took_ms = 0;
    Finding finding;
};

std::string_view word_of(facts::ProbeStep step);
// It ran, maybe with a warning.
bool is_right(const Placed& placed, facts::ProbeStep step);

// It failed, and not by what the environment has alone: nothing can be built on it.
bool is_broken(const Placed& placed);

ProbeVerdict verdict_of(const std::vector<Placed>& steps);
std::string summary_of(const Scene& scene, const std::vector<Placed>& steps, ProbeVerdict verdict);
// ProbeOutcome::not_looked_at.
std::vector<std::string> not_looked_at(const Scene& scene, const std::vector<Placed>& steps);

} // namespace cudaenv::plan::probe
