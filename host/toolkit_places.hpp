// Where CUDA toolkits may be: every place that the issue of finding them knows, before anything is
// read of what is there.
#pragma once

#include "host/environment.hpp"
#include "host/file_system.hpp"

#include <string>
#include <vector>

namespace cudaenv::host {

// Whether a place that turns out not to hold a toolkit is reported as a problem (somebody named it) or
// passed over (it only looked like one).
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

} // namespace cudaenv::host
