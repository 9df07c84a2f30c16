// The environment's libcudart, loaded from where the environment has it.
#pragma once

#include "kernels/gpu_under_test.hpp"
#include "kernels/rungs/stop.hpp"

#include <string>
#include <vector>

namespace cudaenv::kernels {

// The first of `files` that loads. No stop and no `handle`: no file exists.
MaybeStop load_runtime_api(const std::vector<std::string>& files, RuntimeApi& api);

} // namespace cudaenv::kernels
