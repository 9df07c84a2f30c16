// What installs have mixed, for the first prompt after them, in any terminal and with any tool.
// Law: a prompt waits no longer than its patience; what is not known by then is known at the next
// one. Each finding is said once for as long as it is there.
#pragma once

#include "daemon/activation/activation.hpp"
#include "protocol/caller.hpp"

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace cudaenv::daemon {

struct InstallNews {
    std::string line;     // empty: nothing new
    std::string stamp{};  // with the line: what `said` wants
    bool pending = false; // the environment is still being read, or written: ask again
};

class Installs {
public:
    explicit Installs(std::shared_ptr<Machine> machine) : m_machine(std::move(machine)) {}

    // Of the activation's environment. No line where the settings forbid it, or where it could not
    // be kept that it was said. What is found too late is kept with the environment's memory, so
    // that the next prompt has it also from another process. The line comes again until `said`: the
    // prompt that asked may have taken another process's answer.
    InstallNews news(const Activation& activation, const protocol::Caller& caller,
                     std::chrono::milliseconds patience);
    void said(const std::string& prefix, const std::string& stamp, const protocol::Caller& caller);

private:
    enum class Outcome { Kept, BeingWritten, Failed };
    // Destroying the last future of a thread blocks until its end: none is destroyed before that.
    struct Look {
        std::string stamp;
        std::shared_future<Outcome> reading; // none: it is done
        bool done = false;                   // what was found has been said
    };
    void drop_idle();
    static Outcome read(const std::string& prefix, const protocol::Caller& caller,
                        const std::string& stamp, Machine& machine);

    std::shared_ptr<Machine> m_machine;
    std::mutex m_mutex;
    std::map<std::string, Look> m_looks; // by prefix and where memories are kept
};

} // namespace cudaenv::daemon
