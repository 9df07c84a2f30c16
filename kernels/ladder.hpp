// The ladder of `cudaenv-probe --ladder`: which rungs, in which order, and what rests on which.
#pragma once

#include "kernels/ladder_request.hpp"

#include <string>
#include <vector>

namespace cudaenv::kernels {

// Writes the report (kernels/reporter.hpp) while it climbs. It contains every rung of the request's
// depth; those that rest on a failed one are skipped, with the reason. Returns the files that were
// loaded (kernels/library_files.hpp), unless the driver hangs or ends the process.
std::vector<std::string> climb(const LadderRequest& request);

} // namespace cudaenv::kernels
