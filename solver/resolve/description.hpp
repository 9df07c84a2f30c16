// An answer in the words of its installer: which package of which channel or index each record is,
// and the CUDA, Python, cuDNN and toolkit that come with them. Internal to solver/resolve.
#pragma once

#include "solver/resolve/attempt.hpp"
#include "solver/resolve/outcome.hpp"
#include "solver/resolve/request.hpp"

namespace cudaenv::resolve {

// Fills what `outcome` says of packages, of what they decide, and the commands that install them.
void describe_packages(const Request& request, const Attempt& attempt, const Records& records,
                       Outcome& outcome);

} // namespace cudaenv::resolve
