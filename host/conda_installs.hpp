// conda, mamba, micromamba and pixi on this machine, and the environments they keep. Their files
// are read; only a lone executable that no file describes is asked for its version.
#pragma once

#include "host/environment.hpp"
#include "host/file_system.hpp"
#include "host/version_cache.hpp"
#include "solver/facts/host.hpp"

#include <string>
#include <vector>

namespace cudaenv::host {

struct CondaFindings {
    std::vector<facts::CondaInstall> installs; // by kind, path
    std::vector<std::string> prefixes;         // environments and roots, the active one first
    std::string absent;
    std::vector<std::string> notes;
};
CondaFindings find_conda(FileSystem& files, const Environment& environment, const std::string& home,
                         const VersionAsker& asker);

// Where installers put a root prefix; whether one is there is not looked at.
std::vector<std::string> usual_conda_roots(const std::string& home);

// "micromamba 2.8.1", "pixi 0.40.0", "2.8.1".
std::string parse_tool_version(std::string_view text);

} // namespace cudaenv::host
