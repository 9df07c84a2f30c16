// What an environment on disk holds that matters for CUDA, read from files only: no Python is run,
// nothing is imported.
#pragma once

#include "base/result.hpp"
#include "host/file_system.hpp"
#include "solver/facts/environment.hpp"

#include <optional>
#include <string>

namespace cudaenv::environments {

// Nothing where `prefix` is no environment (neither conda-meta/ nor pyvenv.cfg), or not absolute.
// A directory with both is conda's. Each directory is listed once and only a few files are opened:
// 1.6 ms for 300 packages of conda's, 400 of pip's and 2,000 files in lib.
// A framework's `cuda` is major.minor, or the major alone where its package names no more
// (cupy-cuda12x, jax-cuda12-plugin: 12, which every 12.x begins with). `cpu` is also said of a
// build for ROCm: it is known to have nothing of CUDA. What the user's own site-packages (~/.local)
// hold is not looked at.
std::optional<facts::EnvironmentFacts> read_environment(host::FileSystem& files,
                                                        const std::string& prefix);

// Where the parts of the toolkit at `path` are (a root as facts::Toolkit::path has it; Debian's
// packages and conda's targets/ layouts too).
facts::ToolkitLayout layout_of(host::FileSystem& files, const std::string& path);

// Cores (affinity and cgroup quota) and memory (MemAvailable and cgroup limit) of this process.
facts::BuildMachine build_machine(host::FileSystem& files);

} // namespace cudaenv::environments
