// What the probe is asked: which libraries are this environment's, in the order in which it would
// load them.
#pragma once

#include "host/probe/library_search.hpp"

#include <optional>
#include <string>

namespace cudaenv::probe {

enum class ProbeDepth { Quick, Full };

struct ProbeRequest {
    ProbeDepth depth = ProbeDepth::Quick;
    bool all_gpus = false; // CUDA_VISIBLE_DEVICES is set aside
    ProbeLibraries libraries;
    std::optional<int> parent{}; // who waits: where that one is gone, nothing is tried
};
// One line of JSON, the argument after `cudaenv-probe --ladder`.
std::string write_probe_request(const ProbeRequest& request);

} // namespace cudaenv::probe
