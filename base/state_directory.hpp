// Where cudaenv keeps what must survive a reboot but is not configuration: the daemon's log,
// what environments held before.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace cudaenv {

// $CUDAENV_STATE_DIR, else $XDG_STATE_HOME/cudaenv, else $HOME/.local/state/cudaenv: the first that
// is an absolute path; empty where none is, and for root in another user's home.
std::string
state_directory(const std::function<std::optional<std::string>(const char* name)>& variable);
// By the environment of this process.
std::string state_directory();

} // namespace cudaenv
