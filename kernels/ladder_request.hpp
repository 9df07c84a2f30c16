// The argument of `cudaenv-probe --ladder`, read (docs/probe.md). Pure. What is absent is what is
// not asked for; what this version does not know is passed over.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::kernels {

// Places of each library, the first that loads is taken.
struct LadderLibraries {
    std::vector<std::string> cudart;
    std::vector<std::string> nvrtc;
    std::vector<std::string> cublas;
    std::vector<std::string> cudnn;
    std::vector<std::string> nccl;
};

struct LadderRequest {
    bool full = false;
    bool all_gpus = false; // CUDA_VISIBLE_DEVICES is set aside
    LadderLibraries libraries;
};

// Error: "bad-request".
Result<LadderRequest> read_ladder_request(std::string_view text);

} // namespace cudaenv::kernels
