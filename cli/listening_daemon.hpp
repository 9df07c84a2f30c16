// Connecting to the cudaenvd that listens on this user's socket.
//
// Law: connecting never waits, and connects only to this user's own daemon.
#pragma once

#include "base/fd.hpp"

#include <string>

namespace cudaenv::cli {

// The socket, non-blocking; nothing if no daemon can be reached, with the reason in `why`.
Fd connect_to_listening_daemon(std::string& why);

} // namespace cudaenv::cli
