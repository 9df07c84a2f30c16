// What the full ladder tries that the quick one does not, for people: "PTX, NVRTC, cuBLAS, ...".
// Pure; header only, so that the client needs nothing of the judge's.
#pragma once

#include "solver/facts/probe.hpp"

#include <string>

namespace cudaenv::plan {

inline std::string names_of_full_rungs() {
    std::string names = "PTX";
    for (const facts::ProbedLibrary& library : facts::k_probed_libraries) {
        if (library.step > facts::ProbeStep::Kernel) {
            names += ", " + std::string(library.name);
        }
    }
    return names;
}

} // namespace cudaenv::plan
