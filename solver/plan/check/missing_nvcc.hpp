// CE150: something has to be compiled with CUDA and no nvcc is here. Pure.
#pragma once

#include "solver/plan/check/check.hpp"

namespace cudaenv::plan {

void find_missing_nvcc(const CheckScene& scene, std::vector<CheckFinding>& found);

} // namespace cudaenv::plan
