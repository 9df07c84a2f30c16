// `cudaenv.resolve/1` and `cudaenv.finding/1` as JSON values. Pure.
#pragma once

#include "solver/resolve/outcome.hpp"

#include <nlohmann/json_fwd.hpp>

namespace cudaenv::resolve {

nlohmann::json to_json(const Outcome& outcome);
nlohmann::json to_json(const facts::Finding& finding);

} // namespace cudaenv::resolve
