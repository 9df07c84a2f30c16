#include "daemon/lanes.hpp"

namespace cudaenv::daemon {

boost::asio::thread_pool& Lanes::of(Lane lane) {
    const bool quick = lane == Lane::Quick;
    const bool probe = lane == Lane::Probe;
    auto& pool = quick ? m_quick : probe ? m_probe : m_long;
    if (!pool) {
        pool.emplace(quick ? 1U : probe ? 4U : 2U);
    }
    return *pool;
}

void Lanes::join() {
    for (auto* pool : {&m_quick, &m_long, &m_probe}) {
        if (*pool) {
            (*pool)->join();
        }
    }
}

} // namespace cudaenv::daemon
