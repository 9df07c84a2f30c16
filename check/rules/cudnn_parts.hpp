// CE133: libcudnn.so.9 and the parts that it opens (libcudnn_ops.so.9 and its like), of two
// installs in one directory. Pure.
#pragma once

#include "check/rules/check.hpp"

namespace cudaenv::rules {

void find_cudnn_parts(const CheckContext& context, std::vector<CheckFinding>& findings);

} // namespace cudaenv::rules
