// Tells what runs for somebody that it is to end: a descriptor that becomes readable once and stays
// so. Set from any thread, as often as one likes.
#pragma once

#include "base/fd.hpp"

#include <poll.h>
#include <sys/eventfd.h>

namespace cudaenv::daemon {

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

} // namespace cudaenv::daemon
