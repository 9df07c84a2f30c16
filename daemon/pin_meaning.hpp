// What pins mean on a host, in a few lines: which toolkit and compiler they choose, whether the
// driver and the GPUs run that CUDA, which torch is the newest with them.
#pragma once

#include "base/result.hpp"
#include "shellhooks/activation/situation.hpp"
#include "solver/facts/host.hpp"
#include "solver/knowledge/toolkits.hpp"

#include <functional>
#include <string>
#include <vector>

namespace cudaenv::daemon {

struct PinMeaning {
    bool possible = true; // this host can have what is pinned
    std::vector<knowledge::CudaFit> lines;
    std::string nvcc_command; // how to get the nvcc that is not here; empty: one is, or none exists
    // What can be pinned instead where it is not possible: "12.4", "torch=2.15"; empty: unknown.
    std::string instead;
    std::string to_remove; // the pin that excludes another: "cudnn"
};

Result<PinMeaning> meaning_of(const activation::Situation& situation);

// A version of CUDA that a user asks for: refused where no release has that number.

// `constraint` in pin grammar; only a lone version is judged, not a range. `toolkits`, those that
// are here, is called where the tables know no such release: a toolkit that is here exists. Error:
// "no-such-cuda", with the nearest that exists.
Result<void> check_release(const std::string& constraint,
                           const std::function<std::vector<facts::Toolkit>()>& toolkits);

} // namespace cudaenv::daemon
