// The CUDA version in the name of a build. Pure text.
#pragma once

#include "base/dotted_version.hpp"

#include <optional>
#include <string_view>

namespace cudaenv::specs {

// "cu118", "cuda11.8_cudnn8", "py39_cuda102", "cuda126_generic": 11.8, 11.8, 10.2, 12.6; of one
// that names the major alone ("cuda12", "12x" behind "cuda") that: 12. None where it names none.
std::optional<DottedVersion> cuda_in(std::string_view text);

} // namespace cudaenv::specs
