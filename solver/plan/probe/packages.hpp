// Which package brings a library of the environment's, and how it is had anew. Pure; only for
// solver/plan/probe.
#pragma once

#include "solver/plan/probe/scene.hpp"

#include <string>

namespace cudaenv::plan::probe {

// The CUDA major that a library of this step is of or has to be of: by the broken file's own name
// where it is the runtime, by the runtime that was loaded, by what the environment carries, or its
// framework's; else the driver's. 0: not known.
unsigned cuda_major(const Scene& scene, const facts::ProbeRung& rung);

// PyPI's distribution: nvidia-cuda-runtime-cu12, nvidia-cuda-runtime (13 and later). Empty: PyPI
// has none for that major, or it is not known.
std::string pip_package(facts::ProbeStep step, unsigned major);
// conda's: cuda-cudart, cudatoolkit (11 and older).
std::string conda_package(facts::ProbeStep step, unsigned major);

// How something is brought into the environment, whichever is active: "pip install",
// "~/env/bin/python -m pip install", "conda install -p ~/env".
std::string pip_install(const Scene& scene);
std::string conda_install(const Scene& scene);

// A library that is not here, into the environment.
StepFix bring(const Scene& scene, const facts::ProbeRung& rung);
// One that is here and broken. `text`: what is to be done besides.
StepFix bring_anew(const Scene& scene, const facts::ProbeRung& rung,
                   std::string text = "install it anew");

} // namespace cudaenv::plan::probe
