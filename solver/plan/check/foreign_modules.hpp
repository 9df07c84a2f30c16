// Compiled modules of the environment that were made for another torch, CUDA or Python than is
// there now. Pure. Law: only what the module's own file, or its name, proves.
#pragma once

#include "solver/plan/check/cuda_builds.hpp"
#include "solver/plan/outcome.hpp"

#include <string>
#include <vector>

namespace cudaenv::plan {

enum class MadeFor { OtherTorch, OtherCuda, OtherPython };

struct ForeignModule {
    const facts::ExtensionModule* module = nullptr;
    MadeFor made_for = MadeFor::OtherTorch;
    std::string wants; // "libcudart.so.11.0", "libc10_cuda.so", "Python 3.10", a mangled symbol
    std::string here;  // torch's version, what torch is ("for CUDA 12.6"), "Python 3.11"
    bool torch_has_none = false; // OtherCuda: torch here is built without any
};

// In the order of the scene's modules; each once for each MadeFor.
std::vector<ForeignModule> foreign_modules(const CheckScene& scene);
// Of those in the build/ of a source that the next build would install as they are, though what was
// installed from there has to be built again for the same reason: another torch or CUDA. None of an
// editable install without an egg-link: setuptools then builds in a directory of its own.
std::vector<ForeignModule> stale_builds(const CheckScene& scene);
// It was compiled with CUDA: it names the runtime, or torch's libraries for it.
bool uses_cuda(const facts::ExtensionModule& module);
// What makes a distribution's modules anew: compiled here, where an index has them for another
// torch; of those for another Python the index has others.
std::optional<Fix> rebuild(const CheckScene& scene, const facts::Distribution& distribution,
                           MadeFor made_for);

} // namespace cudaenv::plan
