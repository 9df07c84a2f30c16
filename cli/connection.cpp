#include "cli/connection.hpp"

#include "cli/child_daemon.hpp"
#include "cli/start_rules.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How often a long wait checks for an interrupt.
constexpr milliseconds k_interrupt_check{50};
// How long to wait until a child has exited after its answer. One of its threads may be blocked in
// a file system that does not respond (FUSE); then even SIGKILL does not end the child.
constexpr milliseconds k_child_end{10};
constexpr milliseconds k_session_end{1000};

// Errors of a listening daemon that mean "ask another".
bool is_refusal(const Error& error) {
    constexpr auto k_refusals =
        std::to_array<std::string_view>({"other-build", "other-place", "leaving",
                                         "protocol-mismatch", "no-such-method", "hello-first"});
    return std::ranges::find(k_refusals, error.code) != k_refusals.end();
}

bool is_peers_failure(const Error& error) {
    return error.code == k_daemon_died || error.code == "defect" || is_refusal(error);
}

milliseconds left_until(Clock::time_point until) {
    return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(until - Clock::now()));
}

tl::unexpected<Error> timed_out() {
    return unavailable("timed-out", "cudaenvd did not answer in time");
}

// Whether the child ended within the limit.
bool wait_for(pid_t child, milliseconds limit, int* status = nullptr) {
    constexpr timespec k_while{0, 500'000};
    const auto until = Clock::now() + limit;
    // Linux 5.3; before it nothing announces the end: check often.
    const Fd end(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    pid_t ended = 0;
    do {
        if (pollfd watched{end.get(), POLLIN, 0}; end) {
            ::poll(&watched, 1, static_cast<int>(left_until(until).count()));
        } else {
            ::nanosleep(&k_while, nullptr);
        }
        ended = ::waitpid(child, status, WNOHANG);
    } while (ended == 0 && Clock::now() < until);
    return ended == child;
}

// The error for a child that closed its session before it answered, from its exit status.
Error explain_death(pid_t child) {
    Error error{
        ErrorKind::Defect, k_daemon_died, "cudaenvd ended before it answered", {}, 0, 0, {}};
    int status = 0;
    if (!wait_for(child, k_session_end, &status)) {
        return error;
    }
    if (WIFSIGNALED(status)) {
        error.message += ": killed by signal " + std::to_string(WTERMSIG(status));
        return error;
    }
    const int code = WEXITSTATUS(status);
    if (code == protocol::k_ended_without_memory) {
        error.kind = ErrorKind::Unavailable;
        error.code = "no-memory";
        error.message = "cudaenvd needs more memory than its limit allows";
        error.hint = "`ulimit -v` shows the limit, `free` the memory";
        return error;
    }
    if (code == protocol::k_ended_without_descriptors) {
        error.kind = ErrorKind::Unavailable;
        error.code = "few-descriptors";
        error.message = "the limit of open files is too low for cudaenvd (ulimit -n)";
        return error;
    }
    if (code != k_status_not_found && code != k_status_not_started) {
        error.message += ": status " + std::to_string(code);
        return error;
    }
    if (const std::string found = child_daemon_found();
        code == k_status_not_found && !found.empty()) {
        error.kind = ErrorKind::Unavailable;
        error.code = "daemon-does-not-load";
        error.message = found + " does not start: its libraries are missing, or other versions of "
                                "them are loaded";
        error.hint = "ldd " + found + " shows which libraries the loader finds";
        return error;
    }
    error.code = "daemon-not-found";
    error.message =
        code == k_status_not_found ? "cudaenvd was not found" : "cudaenvd does not start";
    error.hint = "looked for " + child_daemon_places();
    return error;
}

} // namespace

Result<Connection> Connection::open(const ConnectWishes& wishes) {
    Connection connection(wishes);
    if (wishes.daemon) {
        if (daemon_is_unwanted(::getenv)) {
            connection.m_why_no_daemon = "CUDAENV_NO_DAEMON is set";
            connection.m_wishes.start = StartDaemon::Never;
        } else if (connection.connect_to_daemon()) {
            return connection;
        }
    } else {
        connection.m_wishes.start = StartDaemon::Never;
    }
    if (!wishes.child) {
        return unavailable("no-daemon", connection.m_why_no_daemon);
    }
    CUDAENV_TRY_VOID(connection.add_child(true));
    return connection;
}

Result<Connection> Connection::start_child() {
    return open({.daemon = false});
}

Connection::Connection(Connection&& other) noexcept
    : m_wishes(std::move(other.m_wishes)), m_peers(std::exchange(other.m_peers, {})),
      m_late(other.m_late), m_deadline(other.m_deadline), m_until(other.m_until),
      m_why_no_daemon(std::move(other.m_why_no_daemon)) {}

Connection::~Connection() {
    for (Peer& peer : m_peers) {
        drop(peer);
    }
}

bool Connection::connect_to_daemon() {
    Fd socket = connect_to_listening_daemon(m_why_no_daemon);
    if (!socket) {
        return false;
    }
    const auto with = m_wishes.child ? Exchange::With::Daemon : Exchange::With::AnyDaemon;
    m_peers.push_back({Exchange(std::move(socket), with)});
    return true;
}

Result<void> Connection::add_child(bool may_stay) {
    bool stays = false;
    if (may_stay && m_wishes.start != StartDaemon::Never) {
        const std::string why = why_not_start(m_wishes.start, start_situation());
        stays = why.empty();
        if (!why.empty()) {
            m_why_no_daemon += (m_why_no_daemon.empty() ? "" : "; ") + why;
        }
    }
    CUDAENV_TRY(auto child, start_child_daemon(stays                 ? ChildKind::Stays
                                               : m_wishes.let_finish ? ChildKind::Detached
                                                                     : ChildKind::Session));
    m_peers.push_back({Exchange(std::move(child.socket), Exchange::With::Child), child.pid, stays});
    return {};
}

Result<void> Connection::ask_child_too(protocol::Request& request, bool may_stay) {
    CUDAENV_TRY_VOID(add_child(may_stay));
    return m_peers.back().exchange.begin(request);
}

// Ends the conversation with a peer.
void Connection::drop(Peer& peer) const {
    const bool greeted = peer.exchange.greeting().has_value();
    const bool listens = greeted && peer.exchange.greeting()->listening;
    peer.exchange.close();
    // Do not wait for a child that stays, nor for one that may and has not said yet: on a busy
    // machine it becomes the daemon of the next prompt, and if another has the lock it ends, since
    // its session is closed.
    if (peer.is_daemon() || (peer.may_stay && (!greeted || listens))) {
        return;
    }
    if (m_wishes.let_finish) {
        if (!m_late) {
            wait_for(peer.child, k_child_end);
        }
        return;
    }
    if (m_late) {
        ::kill(peer.child, SIGKILL); // leaves nothing half-written: files are renamed into place
    }
    wait_for(peer.child, k_session_end);
}

void Connection::keep_only(std::size_t index) {
    Peer kept = std::move(m_peers[index]);
    m_late = m_peers.size() > 1; // of the others
    m_peers.erase(m_peers.begin() + static_cast<std::ptrdiff_t>(index));
    for (Peer& peer : m_peers) {
        drop(peer);
    }
    m_late = false;
    m_peers.clear();
    m_peers.push_back(std::move(kept));
}

bool Connection::from_daemon() const {
    if (m_peers.empty()) {
        return false;
    }
    const Peer& peer = m_peers.front();
    return peer.is_daemon() || (peer.exchange.greeting() && peer.exchange.greeting()->listening);
}

// Whether the listening daemon still greets, tried on a second connection: a long answer may take
// its time, but a stopped process must not delay us.
bool Connection::greets() const {
    std::string ignored;
    const Fd other = connect_to_listening_daemon(ignored);
    const auto line = hello_line();
    if (!other || !line ||
        ::send(other.get(), line->data(), line->size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        return false;
    }
    const auto until = Clock::now() + m_wishes.patience;
    protocol::LineReader lines;
    std::array<char, 4096> chunk{};
    pollfd watched{other.get(), POLLIN, 0};
    while (!lines.next()) {
        const int ready = ::poll(&watched, 1, static_cast<int>(left_until(until).count()));
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        const ssize_t size =
            ready > 0 ? ::recv(other.get(), chunk.data(), chunk.size(), MSG_DONTWAIT) : 0;
        if (size <= 0 || !lines.feed({chunk.data(), static_cast<std::size_t>(size)})) {
            return false;
        }
    }
    return true;
}

// The listening daemon has been silent for `patience`.
Result<void> Connection::leave_or_race(protocol::Request& request,
                                       Clock::time_point& patient_until) {
    patient_until = Clock::time_point::max();
    if (m_wishes.silent_daemon == SilentDaemon::IsRaced && m_wishes.child) {
        return ask_child_too(request, false);
    }
    // A short deadline leaves no time for a second try; a greeting never takes that long.
    if (m_until - Clock::now() > m_wishes.patience && m_peers.front().exchange.greeting() &&
        greets()) {
        patient_until = Clock::now() + m_wishes.patience;
        return {};
    }
    m_peers.clear();
    m_why_no_daemon = timed_out().value().message;
    if (!m_wishes.child) {
        return unavailable("no-daemon", m_why_no_daemon);
    }
    return ask_child_too(request, true);
}

// Error "no-socket". `ready` is empty after a timeout or a signal.
Result<void> Connection::wait_for_any(Clock::time_point until, std::vector<short>& ready) const {
    std::array<pollfd, 2> watched{};
    for (std::size_t i = 0; i < m_peers.size(); ++i) {
        watched[i] = {m_peers[i].exchange.descriptor(), m_peers[i].exchange.events(), 0};
    }
    const int count =
        ::poll(watched.data(), m_peers.size(), static_cast<int>(left_until(until).count()));
    ready.clear();
    if (count < 0 && errno != EINTR) {
        return unavailable("no-socket",
                           std::string("cannot wait for cudaenvd: ") + std::strerror(errno));
    }
    for (std::size_t i = 0; count > 0 && i < m_peers.size(); ++i) {
        ready.push_back(watched[i].revents);
    }
    return {};
}

// Replaces a peer that failed, or waits for the other one; the error if neither is possible.
Result<void> Connection::replace_failed(std::size_t index, const Error& error,
                                        protocol::Request& request) {
    Peer failed = std::move(m_peers[index]);
    m_peers.erase(m_peers.begin() + static_cast<std::ptrdiff_t>(index));
    const auto& greeting = failed.exchange.greeting();
    if (failed.is_daemon()) {
        m_why_no_daemon = error.message;
        if (!m_wishes.child) {
            return unavailable("no-daemon", m_why_no_daemon);
        }
        if (error.code == "other-build" && greeting &&
            protocol::skew_of(*greeting, protocol::own_hello()) != protocol::Skew::Older) {
            m_wishes.start = StartDaemon::Never;
        }
        return m_peers.empty() ? ask_child_too(request, true) : Result<void>();
    }
    // A child that may stay gets a smaller environment. If it fails before it greets, a plain child
    // may still work.
    if (failed.may_stay && !greeting) {
        m_why_no_daemon = error.message;
        return m_peers.empty() ? ask_child_too(request, false) : Result<void>();
    }
    const Error reason = error.code == k_daemon_died && !failed.may_stay
                             ? explain_death(std::exchange(failed.child, -1))
                             : error;
    drop(failed);
    return m_peers.empty() ? tl::unexpected(reason) : Result<void>();
}

Result<protocol::Reply> Connection::first_answer(protocol::Request& request) {
    auto patient_until =
        m_peers.front().is_daemon() ? Clock::now() + m_wishes.patience : Clock::time_point::max();
    auto slow_at = m_wishes.on_slow ? Clock::now() + m_wishes.slow_after : Clock::time_point::max();
    bool is_slow = false;
    const auto is_interrupted = [&] {
        return is_slow && m_wishes.is_interrupted && m_wishes.is_interrupted();
    };
    // Each progress report restarts the wait.
    const ProgressListener listener = [&](const protocol::Progress& far) {
        m_until = std::max(m_until, Clock::now() + m_deadline);
        if (m_wishes.on_progress) {
            m_wishes.on_progress(far);
        }
    };
    std::vector<short> ready;
    while (true) {
        auto until = std::min({m_until, patient_until, slow_at});
        if (is_slow) {
            until = std::min(until, Clock::now() + k_interrupt_check);
        }
        CUDAENV_TRY_VOID(wait_for_any(until, ready));
        for (std::size_t i = 0; i < ready.size(); ++i) {
            const auto ended = m_peers[i].exchange.advance(ready[i], listener);
            if (!ended) {
                continue;
            }
            if (*ended || !is_peers_failure(ended->error())) {
                keep_only(i);
                return *ended;
            }
            if (is_interrupted()) {
                break; // the interrupt reached the child too
            }
            CUDAENV_TRY_VOID(replace_failed(i, ended->error(), request));
            patient_until = Clock::time_point::max();
            break;
        }
        const auto now = Clock::now();
        if (is_interrupted()) {
            m_late = true;
            return unavailable("interrupted", "the wait was interrupted");
        }
        if (now >= m_until) {
            m_late = true;
            return timed_out();
        }
        if (now >= slow_at) {
            slow_at = Clock::time_point::max();
            is_slow = true;
            m_wishes.on_slow();
        }
        if (now >= patient_until) {
            CUDAENV_TRY_VOID(leave_or_race(request, patient_until));
        }
    }
}

Result<protocol::Reply> Connection::ask(protocol::Request request, milliseconds deadline) {
    m_deadline = deadline;
    m_until = Clock::now() + deadline;
    m_late = false;
    if (m_peers.empty()) { // the request before failed
        CUDAENV_TRY_VOID(add_child(true));
    }
    CUDAENV_TRY_VOID(m_peers.front().exchange.begin(request));
    auto reply = first_answer(request);
    if (!reply && m_late) {
        for (Peer& peer : m_peers) {
            drop(peer);
        }
        m_peers.clear();
    }
    return reply;
}

Result<void> Connection::tell(protocol::Request request) {
    m_late = true; // it goes on after this object is gone
    return m_peers.front().exchange.begin(request);
}

} // namespace cudaenv::cli
