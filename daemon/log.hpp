// The daemon's log: one JSON object a line, for `cudaenv daemon logs`.
//
// Law: a log that cannot be written (full disk, read-only home) is no reason to fail. Nothing of a
// request is written: no variable, no path of a project, no token.
#pragma once

#include "base/fd.hpp"

#include <mutex>
#include <string>
#include <string_view>

namespace cudaenv::daemon {

enum class LogLevel { Error, Warn, Info, Debug };

// "error", "warn", "info", "debug"; Info for anything else. CUDAENV_LOG.
LogLevel log_level(const char* name);

class Log {
public:
    Log() = default; // writes nowhere
    // Appends to `directory`/daemon.log, mode 0600, both made where they are missing; at 1 MiB the
    // file becomes daemon.log.1. Standard error goes there too, where `takes_standard_error`.
    Log(const std::string& directory, LogLevel level, bool takes_standard_error);

    void write(LogLevel level, std::string_view text);

private:
    bool open();

    std::mutex m_mutex;
    std::string m_path;
    LogLevel m_level = LogLevel::Info;
    bool m_takes_standard_error = false;
    Fd m_file;
};

} // namespace cudaenv::daemon
