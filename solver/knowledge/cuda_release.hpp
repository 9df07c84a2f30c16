// Which versions of CUDA exist. Pure.
#pragma once

#include "base/dotted_version.hpp"

#include <string>

namespace cudaenv::knowledge {

// Whether NVIDIA has released a CUDA of this major.minor, or of this major where that is all that
// is given. Unknown: older than the table, or so much newer that it may have come since: a minor of
// the newest major or of the next one, up to 9, as no major has had more. A toolkit of that version
// that is here knows better.
struct CudaRelease {
    enum class Exists { Yes, No, Unknown };
    Exists exists = Exists::Unknown;
    DottedVersion nearest; // where it does not: of the same major where that has releases
};
CudaRelease cuda_release(const DottedVersion& version);

// "There is no CUDA 12.44. The nearest is 12.9."
std::string no_such_cuda(const DottedVersion& version, const DottedVersion& nearest);

} // namespace cudaenv::knowledge
