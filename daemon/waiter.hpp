// Whoever waits for a long answer: may stop waiting, and may want to hear how far it is.
#pragma once

#include "daemon/stop_event.hpp"
#include "protocol/message.hpp"

#include <functional>

namespace cudaenv::daemon {

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

} // namespace cudaenv::daemon
