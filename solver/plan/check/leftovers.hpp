// What the rules of CE106 share.
#pragma once

#include "solver/plan/check/check.hpp"

#include <string>

namespace cudaenv::plan {

// A note of CE106.
CheckFinding begin_leftover(std::string subject);
// "numpy 1.26.4"
std::string title_of(const facts::Leftover& left);

} // namespace cudaenv::plan
