// This program, as others are to call it.
#pragma once

#include "base/result.hpp"

#include <string>

namespace cudaenv::cli {

// Its absolute path, symlinks resolved. Error "no-program" where /proc does not tell.
Result<std::string> own_program();

} // namespace cudaenv::cli
