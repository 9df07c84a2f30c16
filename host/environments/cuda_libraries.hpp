// CUDA's libraries by the names of their files, and cuDNN as a build needs it. No library is
// opened.
#pragma once

#include "host/file_system.hpp"
#include "solver/facts/environment.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::environments {

// "libcublas.so.12", "libcudnn_ops.so.9", "libnvrtc-builtins.so.12.4". False for the plain
// libcudart.so that linkers use, and for the names mangled with a hash that old wheels carry
// (libcudart-d0da41ae.so.11.0): nothing else asks for those.
bool is_cuda_library(std::string_view file_name);

// The sonames among `names`, the files of one directory, sorted: of libcudart.so.11.0 and the
// libcudart.so.11.8.89 that it leads to, the first.
std::vector<std::string> cuda_sonames(const std::vector<std::string>& names);

// cuDNN with cudnn.h in `root`/INCLUDE and its library in `root`/LIB, each the first of those named
// that has it (relative, or absolute where they begin with a slash). None without the header.
std::optional<facts::CudnnPlace> cudnn_at(host::FileSystem& files, const std::string& root,
                                          const std::vector<std::string>& includes,
                                          const std::vector<std::string>& libraries);

// x86_64, as uname has it; where targets/x86_64-linux and /usr/lib/x86_64-linux-gnu get their
// names.
std::string machine_name();
// "targets/x86_64-linux", and the like; empty at the end: none.
std::vector<std::string> target_directories(const std::string& machine);

} // namespace cudaenv::environments
