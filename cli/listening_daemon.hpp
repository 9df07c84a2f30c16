// The way to the cudaenvd that listens on this user's socket.
//
// Law: connecting waits for nothing, and only this user's own daemon is connected to.
#pragma once

#include "base/fd.hpp"

#include <string>

namespace cudaenv::cli {

// The socket, non-blocking; none where no daemon can be reached, with the reason in `why`.
Fd connect_to_listening_daemon(std::string& why);

} // namespace cudaenv::cli
