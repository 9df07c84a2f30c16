// The way to cudaenvd: the one that listens for this user where there is one, else a child of our
// own over a socket pair. Asked in JSON-RPC, one request at a time.
//
// Law: every wait has a deadline, and a daemon that is stopped, hangs, dies, talks nonsense or is
// of another build costs at most `patience` before a child is asked instead; whatever either does,
// `ask` returns a value or an Error. No descriptor but standard error reaches a child beside the
// socket's end, and none at all the daemon that may become of it. A child that does not stay is
// gone when the connection is.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"
#include "protocol/frame.hpp"
#include "protocol/message.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace cudaenv::cli {

// Who asks that a daemon be left behind; decision 17 has the last word on all but Asked.
enum class StartDaemon {
    Never,       // scripts, rc files
    IfTerminal,  // commands: where standard input and standard error are a terminal
    Interactive, // hooks that know that their shell is interactive
    Asked,       // `cudaenv daemon start`: only the administrator can refuse
};

struct ConnectWishes {
    // false: a child of our own whatever listens. For what writes the user's files, which is to
    // happen once and with this process's own umask and groups.
    bool daemon = true;
    // false: only the daemon that is there; without one `open` fails. For what is asked about it.
    bool child = true;
    StartDaemon start = StartDaemon::Never;
    // The longest that the listening daemon may be silent: in all where its answer is quick, else
    // before its greeting, and after that as long as it greets nobody else either.
    std::chrono::milliseconds patience{1000};
    // true: a child that is late, or that has answered and is still at work when the deadline is
    // over, is left to finish what it began, for which it keeps what it found out, and is not
    // waited for. For prompts: else a cold machine would begin anew at each.
    bool let_finish = false;
    // Hears how far a request is that asked for it.
    std::function<void(const protocol::Progress&)> on_progress = {};
};

class Connection {
public:
    // Connects, or starts a child; asks nothing yet, waits for nobody. Errors: "no-daemon" with the
    // reason (only with `child` false), "no-socket", "no-process".
    static Result<Connection> open(const ConnectWishes& wishes);

    // A child that answers over the socket pair and ends with it: CUDAENV_DAEMON where it is set,
    // else ../libexec/cudaenv/cudaenvd from this program's directory, else ../daemon/cudaenvd (a
    // build tree), else beside it. A program that is not there is noticed by the first `ask`.
    static Result<Connection> start_child();

    Connection(Connection&& other) noexcept;
    Connection& operator=(Connection&&) = delete;
    ~Connection();

    // Sends `hello` before the first request, in the same write. A request that the listening
    // daemon did not answer is asked of a child, in the time that is left. Errors: the daemon's
    // own; "daemon-not-found", "daemon-died", "bad-response" (Defect); "timed-out",
    // "daemon-does-not-load" (Unavailable).
    Result<protocol::Reply> ask(protocol::Request request, std::chrono::milliseconds deadline);

    // Of the last answer: whether it came from a daemon that listens, the one that was there or the
    // child that stays; and why it did not, empty where nobody looked for one.
    [[nodiscard]] bool from_daemon() const;
    [[nodiscard]] const std::string& why_no_daemon() const { return m_why_no_daemon; }

private:
    using Clock = std::chrono::steady_clock;
    enum class Peer { None, Daemon, Child };

    explicit Connection(const ConnectWishes& wishes) : m_wishes(wishes) {}
    bool connect_to_daemon();
    Result<void> fork_child(bool may_stay);
    void leave_daemon(std::string why);
    void finish();
    Result<void> send(std::string_view bytes, Clock::time_point until);
    Result<void> wait_for(short events, Clock::time_point until);
    Result<void> wait_for_answer(Clock::time_point until);
    Result<protocol::Response> receive(Clock::time_point until);
    Result<protocol::Reply> ask_peer(protocol::Request& request, Clock::time_point until);
    Result<void> read_greeting(Clock::time_point until);
    [[nodiscard]] bool greets() const;
    Error died();
    void wait_for_child() const;

    ConnectWishes m_wishes;
    Peer m_peer = Peer::None;
    Fd m_socket;
    pid_t m_child = -1;
    bool m_may_stay = false; // the child was started as one that may become the daemon
    bool m_said_hello = false;
    std::optional<protocol::Hello> m_greeting;
    bool m_late = false;       // the peer was waited for in vain
    Clock::time_point m_until; // of the last request
    Clock::time_point m_patient_until;
    bool m_looks_again = false; // after that, whether the daemon still greets
    std::int64_t m_last_id = 0;
    protocol::LineReader m_lines;
    std::string m_why_no_daemon;
};

} // namespace cudaenv::cli
