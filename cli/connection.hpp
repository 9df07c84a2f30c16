// The way to cudaenvd: the one that listens for this user where there is one, else a child of our
// own over a socket pair. Asked in JSON-RPC, one request at a time.
//
// Law: every wait has a deadline, which restarts with each progress report, and a
// daemon that is stopped, hangs, dies, talks nonsense or is of another build costs at most
// `patience` before a child is asked; whatever either does, `ask` returns a value or an Error. No
// descriptor but standard error reaches a child beside the socket's end, and none at all the daemon
// that may become of it. A child that does not stay is gone when the connection is.
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

// Who asks that a daemon be left behind; decision 17 has the last word on all but Asked.
enum class StartDaemon {
    Never,       // scripts, rc files
    IfTerminal,  // commands: where standard input and standard error are a terminal
    Interactive, // hooks that know that their shell is interactive
    Asked,       // `cudaenv daemon start`: only the administrator can refuse
};

// What happens to a daemon that was silent for `patience`.
enum class SilentDaemon {
    IsLeft,  // a child is asked in its place
    IsRaced, // a child is asked beside it, and the first answer counts. For what may be done twice
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
    SilentDaemon silent_daemon = SilentDaemon::IsLeft;
    // true: a child that is late is left to finish what it began and keeps what it found out, also
    // where the terminal is interrupted or closed. For prompts: else a slow machine would begin
    // again at each.
    bool let_finish = false;
    ProgressListener on_progress = {};
    // Called once where the answer takes longer than `slow_after`.
    std::chrono::milliseconds slow_after{0};
    std::function<void()> on_slow = {};
    // Asked from time to time after `on_slow`: true ends the wait ("interrupted").
    std::function<bool()> is_interrupted = {};
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
    // own; "daemon-not-found", "daemon-died", "bad-response" (Defect); "timed-out", "interrupted",
    // "daemon-does-not-load" (Unavailable).
    Result<protocol::Reply> ask(protocol::Request request, std::chrono::milliseconds deadline);

    // Sends a request whose answer is not waited for, and leaves a child at work on it.
    Result<void> tell(protocol::Request request);

    // Of the last answer: whether it came from a daemon that listens, the one that was there or the
    // child that stays; and why it did not, empty where nobody looked for one.
    [[nodiscard]] bool from_daemon() const;
    [[nodiscard]] const std::string& why_no_daemon() const { return m_why_no_daemon; }

private:
    using Clock = std::chrono::steady_clock;
    // One that is asked: the listening daemon, or a child.
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
    bool m_late = false;       // they were waited for in vain
    std::chrono::milliseconds m_deadline{0};
    Clock::time_point m_until; // of the last request
    std::string m_why_no_daemon;
};

} // namespace cudaenv::cli
