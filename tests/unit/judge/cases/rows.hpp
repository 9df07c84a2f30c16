// What the files of rows beside this share; each has the rows of one part of the ladder.
#pragma once

#include "tests/unit/judge/cases.hpp"

namespace cudaenv::testing {

using facts::ProbeResult;
using facts::ProbeRung;
using facts::ProbeStep;
using facts::RungReason;
using judge::ProbeVerdict;
using judge::StepStatus;
using Ending = facts::ProbeReport::Ending;

inline constexpr auto k_fails = StepStatus::Fails;
inline constexpr auto k_warns = StepStatus::Warns;
inline constexpr auto k_skipped = StepStatus::Skipped;

// What rows change alike. One after the other:
Change both(Change first, Change second);
void in_conda(Bench& bench);
// dlopen refused the library of this step with these words; the file where it is known. What is
// above the kernel stands on a whole ladder.
Change does_not_load(ProbeStep step, const char* words, const char* path = "");
// The reason of that step's rung, and the file at fault.
Change because(ProbeStep step, facts::RungReason reason, const char* broken = "");
// cuInit returned that number; of the libcuda at that place.
Change cu_init(int error, const char* name = "");
Change libcuda_answers(const char* path, int error, const char* name = "");
Change library_path(std::vector<std::string> entries);
// The whole ladder but for a call of this step, which returned that number.
Change answers(ProbeStep step, const char* call, int error, const char* name = "",
               const char* message = "");

std::vector<Case> library_cases();
std::vector<Case> driver_cases();
std::vector<Case> gpu_cases();
std::vector<Case> runtime_cases();
std::vector<Case> kernel_cases();
std::vector<Case> cuda_libraries_cases();
std::vector<Case> build_cases();
std::vector<Case> ending_cases();

} // namespace cudaenv::testing
