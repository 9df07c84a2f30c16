// The connection to cudaenvd: the daemon that listens for this user, else a child of our own over a
// socket pair. JSON-RPC, one request at a time.
//
// Law: every wait has a deadline, which restarts with each progress report. A daemon that is
// stopped, hangs, dies, sends garbage or is another build costs at most `patience` before a child
// is asked; whatever either does, `ask` returns a value or an Error. A child that does not stay
// ends with the connection.
#pragma once

#include "base/result.hpp"
#include "cli/exchange.hpp"
#include "protocol/message.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cudaenv::cli {

// When to leave a daemon running afterwards; decision 17 can refuse all but Asked.
enum class StartDaemon {
    Never,       // scripts, rc files
    IfTerminal,  // commands: if standard input and standard error are a terminal
    Interactive, // hooks that know that their shell is interactive
    Asked,       // `cudaenv daemon start`: only the administrator can refuse
};

// What happens to a daemon that was silent for `patience`.
enum class SilentDaemon {
    IsLeft,  // a child is asked in its place
    IsRaced, // a child is asked beside it, and the first answer counts. For what may be done twice
};

struct ConnectWishes {
    // false: always a child of our own. For what writes the user's files: once, and with this
    // process's umask and groups.
    bool daemon = true;
    // false: only a daemon that listens already, else `open` fails. For questions about it.
    bool child = true;
    StartDaemon start = StartDaemon::Never;
    // The longest silence of the listening daemon: in total if its answer is quick, else before its
    // greeting. After that it may take longer as long as it still greets others.
    std::chrono::milliseconds patience{1000};
    SilentDaemon silent_daemon = SilentDaemon::IsLeft;
    // true: a child that is late finishes its work and saves the result, even if the terminal is
    // interrupted or closed. For prompts: otherwise a slow machine would start over at each one.
    bool let_finish = false;
    ProgressListener on_progress = {};
    // Called once if the answer takes longer than `slow_after`.
    std::chrono::milliseconds slow_after{0};
    std::function<void()> on_slow = {};
    // Asked from time to time after `on_slow`: true ends the wait ("interrupted").
    std::function<bool()> is_interrupted = {};
};

class Connection {
public:
    // Connects, or starts a child; sends nothing and does not wait. Errors: "no-daemon" with the
    // reason (only with `child` false), "no-socket", "no-process".
    static Result<Connection> open(const ConnectWishes& wishes);

    // A child that answers over the socket pair and ends with it: CUDAENV_DAEMON if it is set,
    // else ../libexec/cudaenv/cudaenvd from this program's directory, else ../daemon/cudaenvd (a
    // build tree), else beside it. A missing program shows at the first `ask`.
    static Result<Connection> start_child();

    Connection(Connection&& other) noexcept;
    Connection& operator=(Connection&&) = delete;
    ~Connection();

    // Sends `hello` before the first request, in the same write. A request that the listening
    // daemon did not answer is asked of a child, in the time that is left. Errors: the daemon's
    // own; "daemon-not-found", "daemon-died", "bad-response" (Defect); "timed-out", "interrupted",
    // "daemon-does-not-load" (Unavailable).
    Result<protocol::Reply> ask(protocol::Request request, std::chrono::milliseconds deadline);

    // Sends a request without waiting for its answer; a child goes on working on it.
    Result<void> tell(protocol::Request request);

    // Whether the last answer came from a listening daemon (an earlier one, or a child that stays),
    // and if not, why; empty if none was tried.
    [[nodiscard]] bool from_daemon() const;
    [[nodiscard]] const std::string& why_no_daemon() const { return m_why_no_daemon; }

private:
    using Clock = std::chrono::steady_clock;
    // The listening daemon, or a child.
    struct Peer {
        Exchange exchange;
        pid_t child = -1;      // -1: the listening daemon
        bool may_stay = false; // the child was started as one that may become the daemon
        [[nodiscard]] bool is_daemon() const { return child < 0; }
    };

    explicit Connection(const ConnectWishes& wishes) : m_wishes(wishes) {}
    bool connect_to_daemon();
    Result<void> add_child(bool may_stay);
    Result<void> ask_child_too(protocol::Request& request, bool may_stay);
    Result<void> leave_or_race(protocol::Request& request, Clock::time_point& patient_until);
    Result<void> wait_for_any(Clock::time_point until, std::vector<short>& ready) const;
    Result<void> replace_failed(std::size_t index, const Error& error, protocol::Request& request);
    Result<protocol::Reply> first_answer(protocol::Request& request);
    void keep_only(std::size_t index);
    void drop(Peer& peer) const;
    [[nodiscard]] bool greets() const;

    ConnectWishes m_wishes;
    std::vector<Peer> m_peers; // those asked now; at most a daemon and a child
    bool m_late = false;       // the last wait ended without their answer
    std::chrono::milliseconds m_deadline{0};
    Clock::time_point m_until; // of the last request
    std::string m_why_no_daemon;
};

} // namespace cudaenv::cli
