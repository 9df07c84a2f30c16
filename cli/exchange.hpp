// A conversation with one cudaenvd over its socket: a hello, then requests, one at a time.
//
// Law: nothing here waits. The owner polls `descriptor` for `events` and calls `advance`.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"
#include "protocol/frame.hpp"
#include "protocol/message.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace cudaenv::cli {

using ProgressListener = std::function<void(const protocol::Progress&)>;

// The peer closed its end before it answered.
constexpr const char* k_daemon_died = "daemon-died";

class Exchange {
public:
    enum class With {
        Child,     // of this installation: only its protocol must match
        Daemon,    // only one of the same build answers; an older one is asked to leave
        AnyDaemon, // for questions about the daemon itself
    };

    Exchange(Fd socket, With with) : m_socket(std::move(socket)), m_with(with) {}

    // Sends `request` as far as that needs no waiting; a `hello` precedes the first one.
    // Error: "frame-too-long".
    Result<void> begin(protocol::Request& request);

    [[nodiscard]] int descriptor() const { return m_socket.get(); }
    [[nodiscard]] short events() const;
    void close() { m_socket.reset(); }

    // After poll: goes on with what is `ready`. A value once the request has ended. Errors: the
    // daemon's own; k_daemon_died; "bad-response" (Defect); "other-build", "protocol-mismatch".
    std::optional<Result<protocol::Reply>> advance(short ready, const ProgressListener& listener);

    // Nothing before it has arrived.
    [[nodiscard]] const std::optional<protocol::Hello>& greeting() const { return m_greeting; }

private:
    using Ended = std::optional<Result<protocol::Reply>>;
    bool send_more();
    Ended take(std::string_view line, const ProgressListener& listener);
    Ended take_greeting(const protocol::Response& response);
    Ended ask_to_leave();

    Fd m_socket;
    With m_with;
    bool m_said_hello = false;
    std::string m_unsent;
    std::int64_t m_last_id = 0;
    std::int64_t m_awaited = 0;
    std::optional<std::int64_t> m_drain;
    std::optional<protocol::Hello> m_greeting;
    protocol::LineReader m_lines;
    std::string m_parts; // of a result that is too long for a line
};

// As `hello` is sent.
Result<std::string> hello_line();

} // namespace cudaenv::cli
