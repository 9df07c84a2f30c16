// Asks programs for their version: one child each at most, all at once, none for those whose answer
// is kept.
#pragma once

#include "host/environment.hpp"
#include "host/file_system.hpp"
#include "host/process.hpp"
#include "host/version_cache.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace cudaenv::host {

struct VersionQuestion {
    std::string program;                // absolute path
    std::vector<std::string> arguments; // behind the program
    // The version in what it printed (standard output, then standard error); empty: none.
    std::function<std::string(const std::string&)> parse;
    FileStatus status; // of the program
};

struct VersionAsker {
    ProcessRunner& processes;
    VersionCache& cache;
    const Environment& environment;
    std::chrono::milliseconds deadline{3000};

    // In the questions' order.
    [[nodiscard]] std::vector<KeptVersion> ask(const std::vector<VersionQuestion>& questions) const;
};

} // namespace cudaenv::host
