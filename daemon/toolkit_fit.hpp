// Whether a toolkit's programs run on a host: the three checks of "driver >= runtime" (floor,
// machine code, PTX) told in one line for a table. Pure.
#pragma once

#include "solver/facts/host.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::daemon {

enum class FitState { Fits, Warns, Breaks, Unknown };

struct Fit {
    FitState state = FitState::Unknown;
    std::string text; // "needs driver 580.65.06"
};

std::string_view name_of(FitState state); // "ok", "warns", "fails", "unknown"

Fit fit_of(const facts::Toolkit& toolkit, const facts::Host& host);

// The compilers of `host` that the toolkit's nvcc accepts, in the host's order.
std::vector<facts::Compiler> accepted_compilers(const facts::Toolkit& toolkit,
                                                const facts::Host& host);

} // namespace cudaenv::daemon
