// Findings made fit to be shown: what records say may hold any bytes. Pure.
#pragma once

#include "solver/plan/check/check.hpp"

#include <cstddef>
#include <vector>

namespace cudaenv::plan {

// Of those from `first` on, every text becomes printable; paths stay as they are. A command that
// cannot be shown as it would have to be pasted is left out.
void make_printable(std::vector<CheckFinding>& found, std::size_t first);

} // namespace cudaenv::plan
