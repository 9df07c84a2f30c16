// What an environment on disk holds that matters for CUDA, read from files only: no Python is run,
// nothing is imported.
#pragma once

#include "base/result.hpp"
#include "host/file_system.hpp"
#include "solver/facts/environment.hpp"

#include <optional>
#include <string>

namespace cudaenv::host {

// Nothing where `prefix` is no environment (neither conda-meta/ nor pyvenv.cfg).
std::optional<facts::EnvironmentFacts> read_environment(FileSystem& files,
                                                        const std::string& prefix);

// Where the parts of the toolkit at `path` are (a root as facts::Toolkit::path has it; Debian's
// packages and conda's targets/ layouts too).
facts::ToolkitLayout layout_of(FileSystem& files, const std::string& path);

// Cores (affinity and cgroup quota) and memory (MemAvailable and cgroup limit) of this process.
facts::BuildMachine build_machine(FileSystem& files);

} // namespace cudaenv::host
