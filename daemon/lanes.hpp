// The threads on which methods run. Law: a long job never delays a quick one, since they share no
// thread, and a driver that hangs delays nothing but other probes.
#pragma once

#include "daemon/service.hpp"

#include <boost/asio/thread_pool.hpp>

#include <optional>

namespace cudaenv::daemon {

class Lanes {
public:
    // Made when it is first asked for, by the io thread. Not for Lane::Here.
    boost::asio::thread_pool& of(Lane lane);
    // Waits for what still runs.
    void join();

private:
    std::optional<boost::asio::thread_pool> m_quick; // one thread: a prompt waits for it
    std::optional<boost::asio::thread_pool> m_long;  // two: one long job does not hold up another
    std::optional<boost::asio::thread_pool> m_probe; // four: most of what they do is to wait
};

} // namespace cudaenv::daemon
