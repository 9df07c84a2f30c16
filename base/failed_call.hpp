// What a system call's errno says.
#pragma once

#include "base/result.hpp"

namespace cudaenv {

inline constexpr const char* k_not_found = "not-found";
inline constexpr const char* k_permission_denied = "permission-denied";
inline constexpr const char* k_symlink_loop = "symlink-loop";

// One of these codes or "io"; without a path.
tl::unexpected<Error> failed_call(int error);

} // namespace cudaenv
