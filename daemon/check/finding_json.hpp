// The findings about an environment as JSON: `cudaenv.check/1`.
#pragma once

#include "solver/plan/check/check.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace cudaenv::daemon {

// What one step of `--fix` does: "uninstall numpy 2.0.0".
std::string words_of(const plan::Repair& repair, const facts::Inventory& inventory);
// A finding as every command tells it (`cudaenv.finding/1`), and beside it what `check` knows:
// `subject`, `files` (relative to `prefix`) and what `--fix` would do, a line for each step.
nlohmann::json to_json(const plan::CheckFinding& found, const facts::Inventory& inventory);

} // namespace cudaenv::daemon
