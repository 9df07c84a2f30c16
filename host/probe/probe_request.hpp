// What the probe is asked: which libraries are this environment's, in the order in which it would
// load them.
#pragma once

#include "host/file_system.hpp"
#include "solver/facts/environment.hpp"
#include "solver/facts/probe.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

// Files, the first that loads is taken. One file where there is one, since the loader looks no
// further either; else bare sonames, which leave it to the loader, and what is there of other
// majors.
struct ProbeLibraries {
    std::vector<std::string> cudart;
    std::vector<std::string> nvrtc;
    std::vector<std::string> cublas;
    std::vector<std::string> cudnn;
    std::vector<std::string> nccl;
    // What the chosen toolkit has and is not asked for, because the environment's CUDA is of
    // another major and its loader does not look there.
    std::map<facts::ProbeStep, std::string> passed_over;
    // Links that would have been taken and lead to nothing (or round in a circle), in the order in
    // which they were met.
    std::vector<std::string> broken_links;
    // Directories and files where the search looked, there or not: what appears in them may be
    // found the next time.
    std::vector<std::string> looked_at;
};

// The directories that LD_LIBRARY_PATH names, as ld.so has them: between colons and semicolons, a
// relative one below `cwd`, an empty one `cwd` itself; an empty list names none. Relative ones are
// left out where `cwd` is not known.
std::vector<std::string> loader_directories(std::string_view list, const std::string& cwd);

// Where the environment's programs would load CUDA's libraries from: torch/lib and nvidia/*/lib
// (nvidia/cu13/lib too) of its site-packages, conda's lib, what LD_LIBRARY_PATH names, the chosen
// toolkit's library directory, the system's. `library_path` comes first where the wheels' libraries
// carry DT_RUNPATH, and after them where they carry DT_RPATH (as conda's packages do):
// as ld.so has it. Of several majors the framework's counts. A toolkit of another CUDA than the
// environment's gives a runtime at most. What the loader cannot open (a link to nothing, a file
// without permission, one for another machine) it passes over; one that goes round in a circle ends
// its search along LD_LIBRARY_PATH.
ProbeLibraries probe_libraries(FileSystem& files,
                               const std::optional<facts::EnvironmentFacts>& environment,
                               const std::optional<facts::ToolkitLayout>& toolkit,
                               const std::vector<std::string>& library_path);

enum class ProbeDepth { Quick, Full };

struct ProbeRequest {
    ProbeDepth depth = ProbeDepth::Quick;
    bool all_gpus = false; // CUDA_VISIBLE_DEVICES is set aside
    ProbeLibraries libraries;
    std::optional<int> parent{}; // who waits: where that one is gone, nothing is tried
};
// One line of JSON, the argument after `cudaenv-probe --ladder`.
std::string write_probe_request(const ProbeRequest& request);

} // namespace cudaenv::host
