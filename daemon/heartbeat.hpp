// Tells whoever waits for long work, each second, that it goes on; and the work that nobody waits
// any more. Its threads share one.
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
    Clock::time_point m_told = Clock::now();
    Clock::time_point m_asked = m_told;
    bool m_gone = false;
};

} // namespace cudaenv::daemon
