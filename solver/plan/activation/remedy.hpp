// How to get a toolkit without root: one line ready to paste. Pure. Internal to
// solver/plan/activation.
#pragma once

#include "solver/plan/activation/toolkit_match.hpp"

#include <string>

namespace cudaenv::plan {

// Into the environment where its manager has that nvcc, else NVIDIA's runfile into the home
// directory. Empty where no release of CUDA is wanted that is known.
std::string toolkit_remedy(const Situation& situation, const WantedCuda& wanted);

// A g++ of that major, from conda-forge.
std::string compiler_remedy(const Situation& situation, int gcc_major);

} // namespace cudaenv::plan
