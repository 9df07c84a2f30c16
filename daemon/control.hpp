// What a running cudaenvd answers about itself, and can be ordered to do: on its io thread, but for
// what says otherwise.
#pragma once

#include <cstdint>
#include <string>

namespace cudaenv::daemon {

class BackgroundProbe;

struct DaemonStatus {
    bool running = false; // listens for others
    std::string socket;   // its path
    std::int64_t uptime_seconds = 0;
    std::int64_t requests = 0; // answered since then, on all connections
    std::int64_t idle_exit_seconds = 0;
    std::string why_not; // where it does not listen
};

class Control {
public:
    Control() = default;
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    virtual ~Control() = default;

    [[nodiscard]] virtual DaemonStatus status() const = 0;
    // Listens no more at once, and ends when what is being answered is answered.
    virtual void leave(const std::string& why) = 0;
    // Lives as long as this; any thread.
    virtual BackgroundProbe& background_probe() = 0;
};

} // namespace cudaenv::daemon
