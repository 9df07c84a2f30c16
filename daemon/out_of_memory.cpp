#include "daemon/out_of_memory.hpp"

#include "protocol/daemon_end.hpp"

#include <exception>
#include <new>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

thread_local bool t_found_no_memory = false;
std::terminate_handler g_ordinary = nullptr;

void no_memory() {
    t_found_no_memory = true;
    throw std::bad_alloc();
}

void terminated() {
    if (t_found_no_memory) {
        ::_exit(protocol::k_ended_without_memory);
    }
    g_ordinary();
}

} // namespace

void end_quietly_without_memory() {
    std::set_new_handler(no_memory);
    g_ordinary = std::set_terminate(terminated);
}

} // namespace cudaenv::daemon
