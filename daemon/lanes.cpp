#include "daemon/lanes.hpp"

#include <csignal>
#include <cstddef>
#include <system_error>

namespace cudaenv::daemon {

namespace {

struct Size {
    Lane lane;
    int threads;
};
constexpr auto k_sizes = std::to_array<Size>({
    {Lane::Quick, 1}, // a prompt waits for it
    {Lane::Long, 2},  // one long job does not hold up another
    {Lane::Probe, 4}, // most of what they do is to wait
});

} // namespace

boost::asio::io_context* Lanes::of(Lane lane) {
    for (std::size_t i = 0; i < k_sizes.size(); ++i) {
        if (k_sizes[i].lane != lane) {
            continue;
        }
        auto& pool = m_pools[i];
        if (!pool) {
            pool = std::make_unique<Pool>();
        }
        try {
            const bool first = pool->threads.empty();
            for (int count = 0; first && count < k_sizes[i].threads; ++count) {
                pool->threads.emplace_back([&work = pool->work] { work.run(); });
            }
        } catch (const std::system_error&) {
            // Those that were started do it all.
        }
        return pool->threads.empty() ? nullptr : &pool->work;
    }
    return nullptr;
}

void Lanes::join() {
    for (const auto& pool : m_pools) {
        if (pool) {
            pool->guard.reset();
            pool->threads.clear();
        }
    }
}

} // namespace cudaenv::daemon
