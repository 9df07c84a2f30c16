#include "daemon/server.hpp"

#include "protocol/build_id.hpp"
#include "protocol/message.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cudaenv::daemon {

namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;
// Longer than any client waits (1800 s), so that no client still waits for what is cut off.
constexpr std::chrono::seconds k_longest_leave = std::chrono::hours(1);
// What is stopped kills its children and removes what it wrote.
constexpr std::chrono::seconds k_longest_stop{5};

// Signals that end a process, as far as whoever started this one lets them: nohup ignores SIGHUP, a
// script's background SIGINT.
std::vector<int> end_signals() {
    std::vector<int> signals;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
            signals.push_back(signal);
        }
    }
    return signals;
}

[[noreturn]] void end_as_by(int signal) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    std::_Exit(128 + signal);
}

// Reads what there is and forgets it: the event is what was waited for.
void forget_events(int fd) {
    std::array<char, 4096> ignored{};
    while (::read(fd, ignored.data(), ignored.size()) > 0) {
    }
}

} // namespace

Server::Server() : m_service(make_service(this)) {}

void Server::spawn(asio::awaitable<void> task) {
    asio::co_spawn(m_io, std::move(task), [this](std::exception_ptr thrown) {
        if (thrown && !m_problem) {
            m_problem = std::move(thrown);
            if (!m_listener) {
                m_io.stop(); // its client sees the end; no other is served
            }
        }
    });
}

void Server::adopt(int in, std::optional<int> out, Lifetime lifetime) {
    auto session =
        std::make_shared<Session>(Session{{Descriptor(m_io, in), {}}, {}, {}, {}, {}, {}});
    if (out) {
        session->streams.out.emplace(m_io, *out);
    }
    start(std::move(session), lifetime);
}

void Server::start(std::shared_ptr<Session> session, Lifetime lifetime) {
    session->since = Clock::now();
    m_sessions.push_back(session);
    spawn([](Server& self, std::shared_ptr<Session> kept, Lifetime until) -> asio::awaitable<void> {
        const Door door = self.door_of(kept);
        co_await serve(kept->streams, self.m_service, self.m_lanes, door, until);
        kept->streams.in.close();
        kept->streams.out.reset();
        std::erase(self.m_sessions, kept);
        self.end_if_done();
    }(*this, std::move(session), lifetime));
}

Door Server::door_of(const std::shared_ptr<Session>& session) {
    Session& one = *session; // lives as long as `serve`, which is given the door
    Door door;
    door.greeting = [this] {
        protocol::Hello hello = protocol::own_hello();
        hello.capabilities = m_service.methods();
        hello.listening = m_listener.has_value();
        hello.why_not_listening = hello.listening ? std::string() : m_why_not;
        return hello;
    };
    door.refusal = [this, &one](const protocol::Hello& hello) -> std::optional<Error> {
        const auto refuse = [](const char* code, std::string message) {
            return unavailable(code, std::move(message)).value();
        };
        if (!one.shared) {
            return std::nullopt;
        }
        if (one.elsewhere) {
            return one.elsewhere;
        }
        if (m_leaving) {
            return refuse("leaving", "the daemon is exiting");
        }
        if (hello.build != protocol::build_id()) {
            return refuse("other-build", "the daemon is of another build (" +
                                             std::string(protocol::build_id()) + ')');
        }
        return std::nullopt;
    };
    door.begins = [this, &one] {
        one.busy = true;
        one.since = m_last_activity = Clock::now();
    };
    door.ends = [this, &one] {
        one.busy = false;
        one.since = m_last_activity = Clock::now();
        ++m_requests;
        return !(one.shared && m_leaving);
    };
    door.can_stop = [this, &one](std::shared_ptr<const StopEvent> stop) {
        can_stop(one, std::move(stop));
    };
    return door;
}

// False where no descriptor is left for it: signals then end this process as they do any.
bool Server::catch_signals() {
    try {
        m_signals.emplace(m_io);
        for (const int signal : end_signals()) {
            m_signals->add(signal);
        }
        return true;
    } catch (const boost::system::system_error&) {
        m_signals.reset();
        return false;
    }
}

void Server::can_stop(Session& session, std::shared_ptr<const StopEvent> stop) {
    session.stop = std::move(stop);
    const bool any_runs = anything_stops();
    if (m_end_signal && !any_runs) {
        end_as_by(*m_end_signal);
    }
    if (m_listener || m_leaving) {
        return;
    }
    // Only for as long as something runs that must not be left behind: a prompt's answer is made
    // without these system calls.
    if (any_runs && !m_signals) {
        if (catch_signals()) {
            spawn(end_by_signal());
        }
    } else if (!any_runs) {
        m_signals.reset();
    }
}

asio::awaitable<void> Server::end_by_signal() {
    const auto [failed, signal] = co_await m_signals->async_wait(k_errors_as_values);
    if (failed) {
        co_return;
    }
    m_end_signal = signal;
    m_signals.reset(); // a second one ends it at once
    if (!anything_stops()) {
        end_as_by(signal); // it ended meanwhile
    }
    stop_what_runs();
    asio::steady_timer patience(m_io, k_longest_stop);
    co_await patience.async_wait(k_errors_as_values);
    end_as_by(signal);
}

bool Server::anything_stops() const {
    return std::ranges::any_of(m_sessions, [](const auto& one) { return one->stop != nullptr; });
}

void Server::stop_what_runs() {
    for (const auto& session : m_sessions) {
        if (session->stop) {
            session->stop->set();
        }
    }
}

void Server::listen(Listener listener, std::chrono::seconds idle_time, Log& log) {
    m_log = &log;
    m_idle_time = idle_time;
    m_place = Place::own();
    m_program.emplace();
    m_path = listener.path();
    m_listener = std::move(listener);
    m_why_not.clear();
    // Copies for Asio, which closes what it is given.
    m_accepting.emplace(m_io, ::fcntl(m_listener->socket(), F_DUPFD_CLOEXEC, 3));
    spawn(accept_clients());
    if (m_listener->watch() >= 0) {
        m_watching.emplace(m_io, ::fcntl(m_listener->watch(), F_DUPFD_CLOEXEC, 3));
        spawn(watch_socket());
    } else {
        m_log->write(LogLevel::Warn,
                     "no inotify instance is left: a removed socket is not noticed");
    }
    // Not Asio's timer, which wakes every five minutes to look at the clock.
    m_timer.emplace(m_io, ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    set_timer(m_idle_time);
    spawn(watch_idle_time());
    if (catch_signals()) {
        spawn(watch_signals());
    }
    m_background_probe.allow();
    m_log->write(LogLevel::Info,
                 "cudaenvd " + std::string(protocol::build_id()) + " listens on " + m_path);
}

void Server::run() {
    m_io.run();
    m_lanes.join();
    if (m_problem) {
        std::rethrow_exception(m_problem);
    }
}

void Server::set_timer(std::chrono::seconds after) {
    itimerspec when{};
    when.it_value.tv_sec = std::max<std::int64_t>(after.count(), 1);
    ::timerfd_settime(m_timer->native_handle(), 0, &when, nullptr);
}

asio::awaitable<void> Server::accept_clients() {
    while (true) {
        const auto [failed] =
            co_await m_accepting->async_wait(Descriptor::wait_read, k_errors_as_values);
        if (failed || m_leaving) {
            co_return;
        }
        while (!m_leaving && accept_one()) {
        }
    }
}

// False if no client waits any more.
bool Server::accept_one() {
    Fd client(
        ::accept4(m_accepting->native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) {
        if (errno == EINTR || errno == ECONNABORTED) {
            return true;
        }
        if (errno != EAGAIN && errno != EWOULDBLOCK) {
            // No descriptors, no memory: waiting for better times would be a busy loop.
            leave(std::string("it cannot accept: ") + std::strerror(errno));
        }
        return false;
    }
    m_last_activity = Clock::now();
    if (!Place::is_own_user(client.get())) {
        m_log->write(LogLevel::Warn, "refused a process of another user");
        return true;
    }
    if (m_program->replaced()) {
        leave("its program was replaced"); // first, so that the client finds the place free
        return false;
    }
    if (m_sessions.size() >= k_most_connections && !make_room()) {
        m_log->write(LogLevel::Warn, "too many connections: one was refused");
        return true;
    }
    auto elsewhere = m_place->why_elsewhere(client.get());
    start(std::make_shared<Session>(Session{
              {Descriptor(m_io, client.release()), {}}, std::move(elsewhere), true, false, {}, {}}),
          Lifetime::UntilClosed);
    return true;
}

bool Server::make_room() {
    std::shared_ptr<Session> oldest;
    for (const auto& session : m_sessions) {
        if (session->shared && !session->busy && (!oldest || session->since < oldest->since)) {
            oldest = session;
        }
    }
    if (!oldest) {
        return false;
    }
    oldest->streams.in.close();
    std::erase(m_sessions, oldest); // its own end finds it gone
    return true;
}

asio::awaitable<void> Server::watch_socket() {
    while (true) {
        const auto [failed] =
            co_await m_watching->async_wait(Descriptor::wait_read, k_errors_as_values);
        if (failed || m_leaving) {
            co_return;
        }
        forget_events(m_watching->native_handle());
        if (!m_listener->still_ours()) {
            leave("its socket, its lock or their directory was changed");
            co_return;
        }
    }
}

asio::awaitable<void> Server::watch_idle_time() {
    while (true) {
        const auto [failed] =
            co_await m_timer->async_wait(Descriptor::wait_read, k_errors_as_values);
        if (failed) {
            co_return;
        }
        forget_events(m_timer->native_handle());
        if (m_leaving) { // somebody's answer takes longer than anybody waits
            m_log->write(LogLevel::Error,
                         "exits with an unfinished answer: no client waits for it");
            std::_Exit(1);
        }
        const auto idle =
            std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - m_last_activity);
        const bool busy = std::ranges::any_of(m_sessions, [](const auto& s) { return s->busy; });
        if (!busy && idle >= m_idle_time) {
            leave("no request for " + std::to_string(m_idle_time.count()) + " s");
            continue;
        }
        // The one wake-up too many after a time of requests: setting the timer at each would cost
        // each a system call.
        set_timer(busy ? m_idle_time : m_idle_time - idle);
    }
}

asio::awaitable<void> Server::watch_signals() {
    const auto [failed, signal] = co_await m_signals->async_wait(k_errors_as_values);
    if (!failed) {
        stop_what_runs();
        leave("signal " + std::to_string(signal));
    }
}

DaemonStatus Server::status() const {
    using std::chrono::duration_cast;
    using std::chrono::seconds;
    return {m_listener.has_value(),
            m_path,
            duration_cast<seconds>(Clock::now() - m_started).count(),
            m_requests,
            m_idle_time.count(),
            m_why_not};
}

void Server::leave(const std::string& why) {
    if (!m_listener) {
        return; // it does not listen, or leaves already
    }
    m_leaving = true;
    m_why_not = "it leaves: " + why;
    m_log->write(LogLevel::Info, "leaves: " + why);
    m_background_probe.stop();
    m_accepting->close();
    m_listener->release();
    m_listener.reset();
    if (m_watching) {
        m_watching->close();
    }
    m_signals.reset();
    set_timer(k_longest_leave);
    for (const auto& session : m_sessions) {
        if (session->shared && !session->busy) {
            session->streams.in.close();
        }
    }
    end_if_done();
}

void Server::end_if_done() {
    if (m_leaving && m_sessions.empty() && m_timer) {
        m_timer->close(); // the last thing that the io thread waits for
    }
}

} // namespace cudaenv::daemon
