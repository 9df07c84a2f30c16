// CE150: something has to be compiled with CUDA and no nvcc is here. Pure.
#pragma once

#include "check/rules/check.hpp"

namespace cudaenv::rules {

void find_missing_nvcc(const CheckContext& context, std::vector<CheckFinding>& findings);

} // namespace cudaenv::rules
