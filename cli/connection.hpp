// A cudaenvd of our own, as a child over a socket pair: asked in JSON-RPC, one request at a time.
//
// Law: every wait has a deadline; no descriptor but standard error reaches the child beside the
// socket's end; the child is gone when the connection is (closing the socket ends it, and it is
// waited for). Whatever the child does, `ask` returns a value or an Error.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"
#include "protocol/frame.hpp"
#include "protocol/message.hpp"

#include <chrono>
#include <string>
#include <sys/types.h>

namespace cudaenv::cli {

class Connection {
public:
    // Starts cudaenvd: CUDAENV_DAEMON where it is set, else ../libexec/cudaenv/cudaenvd from this
    // program's directory, else ../daemon/cudaenvd (a build tree), else beside it.
    // A program that is not there is noticed by the first `ask`.
    static Result<Connection> start_child();

    Connection(Connection&&) = default;
    Connection& operator=(Connection&&) = delete;
    ~Connection();

    // Sends `hello` before the first request, in the same write. Errors: the daemon's own;
    // "daemon-not-found", "daemon-died", "bad-response" (Defect); "timed-out" (Unavailable).
    Result<protocol::Reply> ask(protocol::Request request, std::chrono::seconds deadline);

private:
    Connection(Fd socket, pid_t child) : m_socket(std::move(socket)), m_child(child) {}
    Result<void> send(std::string_view bytes);
    Result<protocol::Response> receive(std::chrono::steady_clock::time_point until);
    Result<void> limit_waits(std::chrono::seconds longest);
    Error died();

    Fd m_socket;
    pid_t m_child = -1;
    bool m_greeted = false;
    std::chrono::seconds m_longest_wait{0}; // what the socket was told; 0 = for ever
    std::int64_t m_last_id = 0;
    protocol::LineReader m_lines;
};

} // namespace cudaenv::cli
