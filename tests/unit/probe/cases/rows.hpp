// What the files of rows beside this share; each has the rows of one part of the ladder.
#pragma once

#include "tests/unit/probe/cases.hpp"

namespace cudaenv::testing {

using facts::ProbeResult;
using facts::ProbeRung;
using facts::ProbeStep;
using plan::ProbeVerdict;
using plan::StepStatus;
using Ending = facts::ProbeReport::Ending;

inline constexpr auto k_fails = StepStatus::Fails;
inline constexpr auto k_warns = StepStatus::Warns;
inline constexpr auto k_skipped = StepStatus::Skipped;

// The whole ladder but for a call of this step, which returned that number.
std::function<void(Bench&)> answers(ProbeStep step, const char* call, int error,
                                    const char* name = "");

std::vector<Case> library_cases();
std::vector<Case> driver_cases();
std::vector<Case> gpu_cases();
std::vector<Case> runtime_cases();
std::vector<Case> kernel_cases();
std::vector<Case> cuda_libraries_cases();
std::vector<Case> build_cases();
std::vector<Case> ending_cases();

} // namespace cudaenv::testing
