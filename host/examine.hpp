// What this machine is: the one entry to everything that host/ finds out. No value without a
// source, no absence without a reason. No global state: the environment and the places to look are
// the caller's, so a daemon can answer for any shell.
#pragma once

#include "host/environment.hpp"
#include "host/file_system.hpp"
#include "host/platform.hpp"
#include "host/process.hpp"
#include "solver/facts/host.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace cudaenv::host {

struct ExamineOptions {
    Environment environment;
    std::string home;                             // of the user asked for; empty = none
    std::vector<std::string> toolkit_directories; // configured ones
    std::string probe_path;                       // of cudaenv-probe; empty: NVML is not asked
    std::chrono::milliseconds probe_deadline{3000};
    std::chrono::milliseconds version_deadline{5000}; // for all compilers together
    std::string cache_directory;                      // empty: nothing is kept between runs
};

// Never fails: what cannot be found out is absent with its reason. Without a driver and with a warm
// cache it starts no child.
facts::Host examine(const ExamineOptions& options);

// The same over another machine's ports, for tests. `now` in seconds since the epoch.
facts::Host examine(const ExamineOptions& options, FileSystem& files, ProcessRunner& processes,
                    const SystemIdentity& identity, std::int64_t now);

// CUDAENV_CACHE_DIR, else $XDG_CACHE_HOME/cudaenv, else ~/.cache/cudaenv; empty without a home,
// and for root in another user's.
std::string default_cache_directory(const Environment& environment, const std::string& home);

} // namespace cudaenv::host
