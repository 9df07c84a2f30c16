// What a system call's errno says.
#pragma once

#include "base/result.hpp"

namespace cudaenv::host {

// Codes of host/file_system.hpp; without a path.
tl::unexpected<Error> failed_call(int error);

} // namespace cudaenv::host
