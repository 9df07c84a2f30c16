// What pins mean on a host, in a few lines: which toolkit and compiler they choose, whether the
// driver runs them, which torch is the newest with them.
#pragma once

#include "base/result.hpp"
#include "daemon/toolkit_fit.hpp"
#include "solver/facts/host.hpp"
#include "solver/plan/request.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::daemon {

struct PinMeaning {
    bool possible = true; // this host can have what is pinned
    std::vector<Fit> lines;
    std::optional<facts::Toolkit> toolkit;
};

// The newest usable toolkit of `host` whose version `constraint` (pin grammar) allows.
std::optional<facts::Toolkit> pinned_toolkit(const facts::Host& host,
                                             const std::string& constraint);

Result<PinMeaning> meaning_of(const std::vector<plan::Pin>& pins, const facts::Host& host);

} // namespace cudaenv::daemon
