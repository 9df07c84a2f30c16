// Starting cudaenvd as a child over a socket pair.
//
// Law: no descriptor but standard error reaches the child beside the socket's end, and none at all
// a child that may outlive this process; a child that may stay gets of the environment only what
// tells it where its files are.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

#include <string>
#include <sys/types.h>

namespace cudaenv::cli {

enum class ChildKind {
    Session,  // cudaenvd --stdio: ends with the connection
    Detached, // the same, and neither an interrupt nor a reader of standard error meets it: it may
              // be at work after the client has ended. Its standard error is /dev/null
    Stays,    // cudaenvd --stay BUILD: listens from now on, if no other does
};

struct ChildDaemon {
    Fd socket; // our end
    pid_t pid = -1;
};

// CUDAENV_DAEMON where it is set, else ../libexec/cudaenv/cudaenvd from this program's directory,
// else ../daemon/cudaenvd (a build tree), else beside it. Errors: "no-socket", "no-process"; a
// program that is not there shows as k_status_not_found.
Result<ChildDaemon> start_child_daemon(ChildKind kind);

constexpr int k_status_not_found = 127; // as a shell says it
constexpr int k_status_not_started = 126;

// The places above, for a message.
std::string child_daemon_places();
// The one of them that is there; empty: none. ld.so, too, ends with k_status_not_found.
std::string child_daemon_found();

// Where this program was started with a standard descriptor closed, a new one takes its number;
// what is printed must not go into the socket.
int above_standard(int fd);

} // namespace cudaenv::cli
