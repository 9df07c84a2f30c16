#include "daemon/waiter.hpp"

#include <utility>

namespace cudaenv::daemon {

namespace {

constexpr std::chrono::seconds k_between_words{1};
// The question is a system call.
constexpr std::chrono::milliseconds k_between_questions{20};

} // namespace

Heartbeat::Heartbeat(const Waiter& waiter, std::string step)
    : m_waiter(&waiter), m_step(std::move(step)) {}

bool Heartbeat::beat() {
    const auto now = Clock::now();
    const std::scoped_lock lock(m_mutex);
    if (!m_gone && now - m_asked >= k_between_questions) {
        m_asked = now;
        m_gone = m_waiter->is_gone();
    }
    if (!m_gone && now - m_reported >= k_between_words) {
        m_reported = now;
        m_waiter->tell({m_step, {}});
    }
    return !m_gone;
}

} // namespace cudaenv::daemon
