// Whether a daemon may keep running after a command: design decision 17. Pure: what is known of the
// process comes through a port.
//
// Law: unless the user asks for it by name, only the interactive shell of an ordinary user on a
// machine that people work on leaves one. cudaenvd itself obeys /etc/cudaenv/config.toml.
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

// CUDAENV_NO_DAEMON is set and not empty: a daemon is neither started nor asked.
bool daemon_is_unwanted(const std::function<const char*(const char* name)>& variable);

// Why no daemon may be started, for a message; empty if one may. CUDAENV_START_DAEMON, if not
// empty, allows it in a container that a person works in, and for root.
std::string why_not_start(StartDaemon wish, const StartSituation& situation);

} // namespace cudaenv::cli
