// The ladder of `cudaenv-probe --ladder`: which rungs, in which order, and what rests on which.
#pragma once

#include "kernels/ladder_request.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::kernels {

// Writes the report (kernels/reporter.hpp) while it climbs. Every rung of the request's depth is in
// it: what rests on a failed one as skipped, with the reason. It returns unless the driver hangs or
// ends the process. Returned are the files that were loaded on the way
// (kernels/loaded_libraries.hpp).
std::vector<std::string> climb(const LadderRequest& request);

// The rungs of the full ladder that are a library's, in their order.
std::vector<std::string_view> library_steps();

} // namespace cudaenv::kernels
