// cudaenvd as a process that serves: the connections there are, the socket on which more come, and
// when it ends.
//
// Law: one io thread owns all of this. While nothing happens nothing wakes it but the end of its
// idle time. It listens no more from the moment it leaves, and ends when the last answer that was
// begun is written, or an hour later. A connection that is silent costs its place and nothing else:
// where places are short the longest silent one goes. A signal that ends processes stops what can
// be stopped, so that nothing of it is left behind: one that serves a single connection then ends
// by that signal, one that listens leaves.
#pragma once

#include "daemon/background.hpp"
#include "daemon/lanes.hpp"
#include "daemon/listener.hpp"
#include "daemon/log.hpp"
#include "daemon/probe/background_probe.hpp"
#include "daemon/service.hpp"
#include "daemon/session.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <optional>

namespace cudaenv::daemon {

constexpr std::size_t k_most_connections = 64;
constexpr std::chrono::seconds k_idle_time = std::chrono::minutes(15);

class Server final : public Control {
public:
    Server();

    // Serves this connection; the server ends with it unless it listens.
    void adopt(int in, std::optional<int> out, Lifetime lifetime);
    // Accepts until it leaves: without requests for a while, on SIGTERM, SIGINT or SIGHUP, when its
    // socket or its program is replaced, when it is asked to.
    void listen(Listener listener, std::chrono::seconds idle_time, Log& log);
    // Says why not, where it was to.
    void cannot_listen(std::string why) { m_why_not = std::move(why); }

    // Until the end.
    void run();

    [[nodiscard]] DaemonStatus status() const override;
    void leave(const std::string& why) override;
    BackgroundProbe& background_probe() override { return m_background_probe; }

private:
    using Clock = std::chrono::steady_clock;
    struct Session {
        Streams streams;
        std::optional<Error> elsewhere; // why it is not to be served
        bool shared = false;            // came over the socket
        bool busy = false;
        std::shared_ptr<const StopEvent> stop; // of what is answered, where that can be stopped
        Clock::time_point since;               // of its last request
    };

    boost::asio::awaitable<void> accept_clients();
    boost::asio::awaitable<void> watch_socket();
    boost::asio::awaitable<void> watch_idle_time();
    boost::asio::awaitable<void> watch_signals();
    boost::asio::awaitable<void> end_by_signal();
    bool catch_signals();
    void can_stop(Session& session, std::shared_ptr<const StopEvent> stop);
    [[nodiscard]] bool anything_stops() const;
    void stop_what_runs();
    bool accept_one();
    void start(std::shared_ptr<Session> session, Lifetime lifetime);
    Door door_of(const std::shared_ptr<Session>& session);
    bool make_room();
    void set_timer(std::chrono::seconds after);
    void end_if_done();
    void spawn(boost::asio::awaitable<void> task);

    boost::asio::io_context m_io{1};    // one thread: Asio may leave out its locks
    BackgroundProbe m_background_probe; // before those that use it
    Service m_service;
    Lanes m_lanes;
    std::list<std::shared_ptr<Session>> m_sessions;
    std::exception_ptr m_problem;

    std::optional<Listener> m_listener; // none: no client can connect, or no longer
    std::optional<boost::asio::posix::stream_descriptor> m_accepting;
    std::optional<boost::asio::posix::stream_descriptor> m_watching;
    std::optional<boost::asio::posix::stream_descriptor> m_timer;
    std::optional<boost::asio::signal_set> m_signals;
    std::optional<int> m_end_signal; // by which this process is to end
    std::optional<Place> m_place;
    std::optional<OwnProgram> m_program;
    Log* m_log = nullptr;
    std::chrono::seconds m_idle_time{0};
    Clock::time_point m_started = Clock::now();
    Clock::time_point m_last_activity = Clock::now();
    std::int64_t m_requests = 0;
    bool m_leaving = false;
    std::string m_path;
    std::string m_why_not = "it was started for one connection";
};

} // namespace cudaenv::daemon
