// Reports to the client, each second, that long work goes on, and to the work that the client has
// gone. Shared by the threads of the work.
#pragma once

#include "base/goes_on.hpp"
#include "daemon/waiter.hpp"

#include <chrono>
#include <mutex>
#include <string>

namespace cudaenv::daemon {

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
