// What a shell has to watch so that it asks again when, and only when, another answer is possible.
#pragma once

#include "daemon/activation/activation.hpp"
#include "host/watch/path_state.hpp"
#include "shellhooks/hooks/prompt_watch.hpp"

#include <cstdint>
#include <string>

namespace cudaenv::daemon {

// How a shell compares files. `asked` is when the request was begun, in nanoseconds since the
// epoch: what changed since then is left without a stamp, so that the shell asks once more. Stamps
// are made in `runtime_directory`; empty: none are. `clock`: what of a time the shell sees.
struct Comparing {
    std::string runtime_directory;
    std::int64_t asked = 0;
    watch::Clock clock = watch::Clock::Nanoseconds;
};

hooks::WatchedFile watched_file(const std::string& path, const Comparing& comparing);

// `program` is the client's own path: a new binary is a reason to ask.
hooks::Watch watch_of(const Activation& activation, const protocol::Caller& caller,
                      const std::string& program, const Comparing& comparing);

// The shell asks at its next prompt as well, whatever changes.
void ask_again(hooks::Watch& watch);

} // namespace cudaenv::daemon
