// Whether a daemon may be left behind: design decision 17. Pure: the process is asked through a
// port.
//
// Law: without being asked by name, only the interactive shell of an ordinary user on a machine of
// people leaves one. What the administrator forbids (/etc/cudaenv/config.toml) is cudaenvd's to
// obey.
#pragma once

#include "cli/connection.hpp"

#include <functional>
#include <string>

namespace cudaenv::cli {

struct StartSituation {
    unsigned uid = 0; // effective
    std::function<const char*(const char* name)> variable;
    std::function<bool()> at_terminal; // standard input and standard error are one
    std::function<bool(const char* path)> exists;
};

// This process.
StartSituation start_situation();

// The user wants none at all: it is neither started nor asked. CUDAENV_NO_DAEMON, not empty.
bool daemon_is_unwanted(const std::function<const char*(const char* name)>& variable);

// Why none may be started, as a person is told; empty where one may. CUDAENV_START_DAEMON, not
// empty, is the user's word for a container that is worked in, or for root.
std::string why_not_start(StartDaemon wish, const StartSituation& situation);

} // namespace cudaenv::cli
