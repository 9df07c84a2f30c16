// Starting cudaenvd as a child over a socket pair.
//
// Law: the child inherits only its end of the socket and standard error; a child that may outlive
// this process not even standard error. A child that may stay gets only the variables that say
// where its files are.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

#include <string>
#include <sys/types.h>

namespace cudaenv::cli {

enum class ChildKind {
    Session,  // cudaenvd --stdio: ends with the connection
    Detached, // the same, but it may still be working after the client has ended: interrupts do not
              // reach it, and its standard error is /dev/null
    Stays,    // cudaenvd --stay BUILD: listens from now on, unless another does
};

struct ChildDaemon {
    Fd socket; // our end
    pid_t pid = -1;
};

// CUDAENV_DAEMON if it is set, else ../libexec/cudaenv/cudaenvd from this program's directory,
// else ../daemon/cudaenvd (a build tree), else beside it. Errors: "no-socket", "no-process"; a
// missing program shows as k_status_not_found.
Result<ChildDaemon> start_child_daemon(ChildKind kind);

constexpr int k_status_not_found = 127; // as in shells
constexpr int k_status_not_started = 126;

// The places above, for a message.
std::string child_daemon_places();
// The one that exists; may be empty. ld.so, too, ends with k_status_not_found.
std::string child_daemon_found();

// If this program was started with a standard descriptor closed, a new descriptor gets its number;
// output must not go into the socket.
int above_standard(int fd);

// Connecting to the cudaenvd that listens on this user's socket.
//
// Law: connecting never waits, and connects only to this user's own daemon.

// The socket, non-blocking; nothing if no daemon can be reached, with the reason in `why`.
Fd connect_to_listening_daemon(std::string& why);

} // namespace cudaenv::cli
