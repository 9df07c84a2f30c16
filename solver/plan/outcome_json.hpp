// `cudaenv.resolve/1` and `cudaenv.finding/1` as JSON values. Pure.
#pragma once

#include "solver/plan/outcome.hpp"

#include <nlohmann/json_fwd.hpp>

namespace cudaenv::plan {

nlohmann::json to_json(const Outcome& outcome);
nlohmann::json to_json(const Finding& finding);

} // namespace cudaenv::plan
