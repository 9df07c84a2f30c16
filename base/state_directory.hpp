// Where cudaenv keeps what is to outlive a boot but is nobody's configuration: the daemon's log.
#pragma once

#include <string>

namespace cudaenv {

// $CUDAENV_STATE_DIR, else $XDG_STATE_HOME/cudaenv, else $HOME/.local/state/cudaenv: the first that
// is an absolute path; empty where none is. Reads the environment of this process.
std::string state_directory();

} // namespace cudaenv
