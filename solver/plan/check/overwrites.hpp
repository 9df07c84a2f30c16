// One package that wrote over another, in words. Pure.
#pragma once

#include "solver/plan/check/check.hpp"
#include "solver/plan/check/overwritten.hpp"

namespace cudaenv::plan {

// Of a Loss of kind WheelOverWheel, under the code of the rule that tells it.
CheckFinding wheel_over_wheel(const CheckScene& scene, const Loss& loss, const char* code);

} // namespace cudaenv::plan
