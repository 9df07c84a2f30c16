// A mount namespace of this process alone, in which /usr/local/cuda is another toolkit.
//
// Law: nothing outside this process and its children changes; user and group stay what they are. An
// ordinary user's process is alone in a user namespace, too, where it has no right over anything
// but its own mounts; after exec it has not even those.
#pragma once

#include "base/result.hpp"

#include <string>

namespace cudaenv::cli {

// From here on the path /usr/local/cuda leads to `toolkit` (absolute). Where it does already,
// nothing is done. The process must have one thread. Errors (Unavailable): "namespace-forbidden",
// with what the user can do; "no-mount".
Result<void> enter_namespace_with_toolkit(const std::string& toolkit);

} // namespace cudaenv::cli
