// A version of CUDA that a user asks for: refused where no release has that number.
#pragma once

#include "base/result.hpp"
#include "solver/facts/host.hpp"

#include <functional>
#include <string>
#include <vector>

namespace cudaenv::daemon {

// `constraint` in pin grammar; only a lone version is judged, not a range. `toolkits`, those that
// are here, is called where the tables know no such release: a toolkit that is here exists. Error:
// "no-such-cuda", with the nearest that exists.
Result<void> check_release(const std::string& constraint,
                           const std::function<std::vector<facts::Toolkit>()>& toolkits);

} // namespace cudaenv::daemon
