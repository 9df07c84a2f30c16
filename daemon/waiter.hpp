// Whoever waits for a long answer: may stop waiting, and may want to hear how far it is.
#pragma once

#include "base/fd.hpp"
#include "base/goes_on.hpp"
#include "protocol/message.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>

namespace cudaenv::daemon {

// Tells what runs for somebody that it is to end: a descriptor that becomes readable once and stays
// so. Set from any thread, as often as one likes.
class StopEvent {
public:
    // Where no descriptor is left it is never readable.
    StopEvent() : m_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

    void set() const {
        if (m_event) {
            ::eventfd_write(m_event.get(), 1);
        }
    }
    // -1: never readable.
    [[nodiscard]] int descriptor() const { return m_event.get(); }

private:
    Fd m_event;
};

// Of a StopEvent's descriptor.
inline bool is_stopped(int stop_event) {
    pollfd watched{stop_event, POLLIN, 0};
    return stop_event >= 0 && ::poll(&watched, 1, 0) > 0;
}

struct Waiter {
    int stop_event = -1; // of a StopEvent; -1: somebody always waits
    // Called on one thread at a time, never after the handler's end. Empty: no one wants progress.
    std::function<void(const protocol::Progress&)> hear = {};

    [[nodiscard]] bool is_gone() const { return is_stopped(stop_event); }
    void tell(const protocol::Progress& progress) const {
        if (hear) {
            hear(progress);
        }
    }
};

// Reports to the client, each second, that long work goes on, and to the work that the client has
// gone. Shared by the threads of the work.
class Heartbeat {
public:
    // `step`: of protocol::Progress. `waiter` outlives it.
    Heartbeat(const Waiter& waiter, std::string step);

    // For the work, as long as this lives.
    [[nodiscard]] GoesOn goes_on() {
        return [this] { return beat(); };
    }

private:
    using Clock = std::chrono::steady_clock;
    bool beat();

    const Waiter* m_waiter;
    std::string m_step;
    std::mutex m_mutex;
    Clock::time_point m_reported = Clock::now();
    Clock::time_point m_asked = m_reported;
    bool m_gone = false;
};

} // namespace cudaenv::daemon
