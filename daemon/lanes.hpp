// The threads on which methods run. Law: a long job never delays a quick one, since they share no
// thread, and a driver that hangs delays nothing but other probes.
#pragma once

#include "daemon/service.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace cudaenv::daemon {

class Lanes {
public:
    Lanes() = default;
    ~Lanes() { join(); }
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;

    // Whose threads run the lane's methods; started when it is first asked for, by the io thread.
    // Null for Lane::Here, and where the user may have no more threads (ulimit -u, ulimit -v): its
    // methods then run on the io thread. Where some could be started they do all of the work.
    boost::asio::io_context* of(Lane lane);
    // Waits for what still runs.
    void join();

private:
    struct Pool {
        boost::asio::io_context work;
        boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{
            work.get_executor()};
        std::vector<std::jthread> threads;
    };
    std::array<std::unique_ptr<Pool>, 3> m_pools;
};

} // namespace cudaenv::daemon
