// What a CUDA, or a toolkit of it, comes to on a host: driver and GPUs together in one verdict, and
// which nvcc builds for which CUDA. Over fit.hpp; pure. `toolkits`, `host`, `status`, `pin` and
// activation ask here, so that one host and one CUDA get one word.
#pragma once

#include "solver/facts/host.hpp"

#include <string>
#include <string_view>

namespace cudaenv::knowledge {

enum class Verdict { Works, Warns, Fails, Unknown };
std::string_view name_of(Verdict verdict); // "ok", "warns", "fails", "unknown"

struct CudaFit {
    Verdict verdict = Verdict::Unknown;
    std::string text; // "needs driver 580.65.06"
};

// Programs of that CUDA with its libraries on the host's driver and GPUs. Without a driver the
// verdict is Unknown and the text empty. `Works` only where everything is known.
CudaFit cuda_fit(const DottedVersion& cuda, const facts::Host& host);
// The same for a toolkit that is here: its own problem comes first.
CudaFit toolkit_fit(const facts::Toolkit& toolkit, const facts::Host& host);

// It has an nvcc that can be used, of a known version.
bool can_compile(const facts::Toolkit& toolkit);

// Whether an nvcc builds for a CUDA. From CUDA 11 on one of the same major does: torch's extensions
// accept it with a warning (torch/utils/cpp_extension.py, _check_cuda_version). Before, minors
// differ in ABI.
enum class NvccMatch { None, SameMajor, Same };
NvccMatch nvcc_match(const DottedVersion& nvcc, const DottedVersion& cuda);
bool any_minor_builds(const DottedVersion& cuda);
// The toolkit here that builds for that CUDA: of the same release, else, where any minor builds, of
// the nearest release below, then above. nullptr: none does.
const facts::Toolkit* toolkit_to_build(const facts::Host& host, const DottedVersion& cuda);
// "nvcc 12.4 is here and works for CUDA 12.6 builds (same major version)"
std::string same_major_text(const DottedVersion& nvcc, const DottedVersion& cuda);

} // namespace cudaenv::knowledge
