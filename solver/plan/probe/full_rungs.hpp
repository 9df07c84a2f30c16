// What the full ladder tries that the quick one does not. Pure; header only, so that the client
// needs nothing of the judge's.
#pragma once

#include "solver/facts/probe.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace cudaenv::plan {

// By its word (facts::k_probe_steps): such a rung. False of a word that is none.
inline bool is_beyond_quick(std::string_view word) {
    const auto place = std::ranges::find(facts::k_probe_steps, word);
    return place != facts::k_probe_steps.end() &&
           place - facts::k_probe_steps.begin() >
               static_cast<std::ptrdiff_t>(facts::ProbeStep::Kernel);
}

// For people: "PTX, NVRTC, cuBLAS, ...".
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
