// The environment that a resolution is for: its Python, what is installed in it, and who installs
// there.
#pragma once

#include "host/file_system.hpp"
#include "protocol/caller.hpp"
#include "solver/facts/environment.hpp"
#include "solver/facts/host.hpp"
#include "solver/resolve/request.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::daemon {

// "name==version" of its conda packages and Python distributions, sorted.
std::vector<std::string> names_and_versions(const facts::EnvironmentFacts& facts);

// The environment of a directory, which is meant where none is active or named: that of the project
// of uv or pixi that it is in, else its `.venv`. A project may have none yet: `project` alone.
struct DirectoryEnvironment {
    std::string prefix;  // empty if it does not exist yet
    std::string project; // uv's directory or pixi's manifest; empty: it belongs to none
    bool conda = false;
};
DirectoryEnvironment environment_of_directory(host::FileSystem& files, std::string directory);

// As it was read. None: commands create one, or the project's own manager does.
resolve::KnownEnvironment known_environment(const std::optional<facts::EnvironmentFacts>& facts,
                                            const facts::Host& host, const protocol::Caller& caller,
                                            const DirectoryEnvironment& of_directory = {});

} // namespace cudaenv::daemon
