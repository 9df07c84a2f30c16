// Which directories may go onto a list such as PATH. Pure text: nothing is looked up. Internal to
// shellhooks/activation.
#pragma once

#include <string>
#include <string_view>

namespace cudaenv::activation {

// Without doubled and trailing slashes.
std::string normal_directory(std::string_view directory);

// `path` is `directory` or lies below it; both normal.
bool lies_in(std::string_view path, std::string_view directory);

// Where compilers and the loader look by themselves, and what holds more than CUDA: /usr/bin,
// /usr/include, anything below /usr/lib, /usr/local itself. Debian's
// /usr/lib/nvidia-cuda-toolkit/bin is one too: it has a gcc of its own, and its nvcc is
// /usr/bin/nvcc.
bool is_system_directory(std::string_view directory);

// Absolute, without ':', no system directory, and neither `stubs` (a libcuda that is not a driver)
// nor `compat` (a libcuda for other drivers).
bool fits_on_a_list(std::string_view directory);

} // namespace cudaenv::activation
