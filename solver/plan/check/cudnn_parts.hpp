// CE133: libcudnn.so.9 and the parts that it opens (libcudnn_ops.so.9 and its like), of two
// installs in one directory. Pure.
#pragma once

#include "solver/plan/check/check.hpp"

namespace cudaenv::plan {

void find_cudnn_parts(const CheckScene& scene, std::vector<CheckFinding>& found);

} // namespace cudaenv::plan
