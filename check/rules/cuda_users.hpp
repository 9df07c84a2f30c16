// Whose files load which CUDA libraries: frameworks.json, as the readers of ELF files need it.
// Pure.
#pragma once

#include "solver/knowledge/frameworks.hpp"

#include <string_view>

namespace cudaenv::rules {

// torch, CuPy, ONNX Runtime and others that name CUDA libraries in DT_NEEDED.
bool is_cuda_user(std::string_view distribution);
// What happens where a library is missing that this file of it names; nullptr: nothing is known. Of
// two rows the earlier has the graver effect.
const knowledge::LibraryUser* cuda_user(std::string_view distribution, std::string_view path);
// "libcublas.so.12", "libcudnn.so.8": a library that wheels of NVIDIA's contain, of any release.
// Not the driver's.
bool is_cuda_soname(std::string_view soname);

} // namespace cudaenv::rules
