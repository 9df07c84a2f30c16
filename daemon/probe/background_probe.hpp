// The quick probe after activations, for users who asked for it ([probe] background = true).
//
// Law: never on a prompt's path: one thread of its own, which begins a moment after the answer went
// out. Never on a GPU that NVML shows as busy, nor where NVML does not say. Once for whatever a
// verdict rests on, however that went. `stop` kills what runs, so that exiting does not wait for a
// driver.
#pragma once

#include "base/fd.hpp"
#include "daemon/activation/activation.hpp"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace cudaenv::daemon {

class BackgroundProbe {
public:
    BackgroundProbe() = default;
    BackgroundProbe(const BackgroundProbe&) = delete;
    BackgroundProbe& operator=(const BackgroundProbe&) = delete;
    ~BackgroundProbe();

    // From now on activations are considered. Before that, and in a process that serves one
    // connection, none is.
    void allow();
    // Notes an activation that was answered, where its user wants it probed; returns at once. Any
    // thread.
    void consider(const nlohmann::json& params, const protocol::Caller& caller,
                  const Activation& activation, const std::shared_ptr<Machine>& machine);
    // Kills what runs and begins nothing more; returns at once. Any thread.
    void stop();

private:
    struct Job {
        nlohmann::json params;
        protocol::Caller caller;
        std::shared_ptr<Machine> machine;
    };
    void work();
    void probe(const Job& job);
    void put_off(const std::string& key);
    bool is_stopped();

    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_allowed = false;
    bool m_stopped = false;
    Fd m_stop_event; // readable once stopped
    // By environment and what the shell has of variables that matter: the last one counts.
    std::map<std::pair<std::string, std::string>, Job> m_noted;
    std::thread m_thread;
    std::set<std::string> m_tried;                                       // the thread's own
    std::map<std::string, std::chrono::steady_clock::time_point> m_busy; // the thread's own
};

} // namespace cudaenv::daemon
