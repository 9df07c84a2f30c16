// The CUDA toolkits of this machine: each once, however many names lead to it; what is broken is
// reported with its problem. A toolkit's own files are believed before any table.
#pragma once

#include "host/environment.hpp"
#include "host/file_system.hpp"
#include "host/version_cache.hpp"
#include "solver/facts/host.hpp"

#include <string>
#include <vector>

namespace cudaenv::host {

// Where CUDA toolkits may be: every place that the issue of finding them knows, before anything is
// read of what is there.

// Whether a place that turns out not to hold a toolkit is reported as a problem (somebody named it)
// or passed over (it only looked like one).
enum class Naming { Named, Guessed };

struct ToolkitPlace {
    std::string path;   // as found, symlinks not resolved
    std::string source; // "CUDA_HOME", "PATH", a directory, a modulefile
    Naming naming = Naming::Named;
    bool silent = false; // a directory that should hold toolkits and does not answer
};

struct ToolkitSearch {
    std::vector<std::string> directories;    // configured: toolkits, or directories of toolkits
    std::vector<std::string> conda_prefixes; // absolute
    std::string home;
    std::string machine; // as uname has it
};

std::vector<ToolkitPlace> toolkit_places(FileSystem& files, const Environment& environment,
                                         const ToolkitSearch& search,
                                         std::vector<std::string>& notes);

// The nvcc that a wrapper script starts: /usr/local/cuda-13.0/bin/nvcc; empty where it names none.
std::string parse_nvcc_wrapper(std::string_view script);

struct ToolkitFindings {
    std::vector<facts::Toolkit> toolkits; // newest first, those with a problem last
    std::string absent;
    std::vector<std::string> notes;
};
ToolkitFindings find_toolkits(FileSystem& files, const Environment& environment,
                              const ToolkitSearch& search, const VersionAsker& asker);

// Reads what lies at `path`, whose symlinks are resolved. `machine` as uname has it.
facts::Toolkit inspect_toolkit(FileSystem& files, const std::string& path,
                               const std::string& machine, const VersionAsker& asker);

// Whether cuDNN of this version is for that CUDA, by the rows of its major.minor; a release that
// the table does not have is believed.
bool cudnn_serves(const DottedVersion& cudnn, const std::optional<DottedVersion>& cuda);

} // namespace cudaenv::host
