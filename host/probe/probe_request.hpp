// What the probe is asked: which libraries are this environment's, in the order in which it would
// load them.
#pragma once

#include "host/file_system.hpp"
#include "solver/facts/environment.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::host {

// Files, the first that loads is taken; a bare soname at the end leaves it to the loader.
struct ProbeLibraries {
    std::vector<std::string> cudart;
    std::vector<std::string> nvrtc;
    std::vector<std::string> cublas;
    std::vector<std::string> cudnn;
    std::vector<std::string> nccl;
};

// Where the environment's programs would load CUDA's libraries from: torch/lib and nvidia/*/lib (or
// nvidia/cuNN/lib) of its site-packages, conda's lib; then what LD_LIBRARY_PATH names, the chosen
// toolkit's library directory, the system's. Of the sonames of several majors the framework's comes
// first. Entries of LD_LIBRARY_PATH go before libraries that are found by RUNPATH (wheels) and
// after none: as ld.so has it.
ProbeLibraries probe_libraries(FileSystem& files,
                               const std::optional<facts::EnvironmentFacts>& environment,
                               const std::optional<facts::ToolkitLayout>& toolkit,
                               const std::vector<std::string>& library_path);

enum class ProbeDepth { Quick, Full };

struct ProbeRequest {
    ProbeDepth depth = ProbeDepth::Quick;
    bool all_gpus = false; // CUDA_VISIBLE_DEVICES is set aside
    ProbeLibraries libraries;
};
// One line of JSON, the argument after `cudaenv-probe --ladder`.
std::string write_probe_request(const ProbeRequest& request);

} // namespace cudaenv::host
