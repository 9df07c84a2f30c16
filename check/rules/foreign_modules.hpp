// Compiled modules of the environment that were built for another torch, CUDA or Python than is
// installed now. Pure. Law: only what the module's own file, or its name, proves.
#pragma once

#include "check/rules/family_member.hpp"
#include "solver/facts/finding.hpp"

#include <string>
#include <vector>

namespace cudaenv::rules {

enum class MadeFor { OtherTorch, OtherCuda, OtherPython };

struct ForeignModule {
    const facts::ExtensionModule* module = nullptr;
    MadeFor made_for = MadeFor::OtherTorch;
    std::string wants; // "libcudart.so.11.0", "libc10_cuda.so", "Python 3.10", a mangled symbol
    std::string here;  // torch's version, what torch is ("for CUDA 12.6"), "Python 3.11"
    bool torch_has_none = false; // OtherCuda: torch here is built without any
};

// In the order of the context's modules; each once for each MadeFor.
std::vector<ForeignModule> foreign_modules(const CheckContext& context);
// Modules in the build/ of a source that the next build would install unchanged, though the
// installed modules have to be rebuilt for another torch or CUDA. Not for an editable install
// without an egg-link: setuptools then builds in a temporary directory.
std::vector<ForeignModule> stale_builds(const CheckContext& context);
// It was compiled with CUDA: it needs the CUDA runtime, or torch's CUDA libraries.
bool uses_cuda(const facts::ExtensionModule& module);
// How to rebuild a distribution's modules, as arguments of a finding: `name`, `command` and one of
// `rebuild`, `in_source`, `other_build`, `reinstall`; `stale` where the command deletes what is in
// build/ first. They are compiled here where an index has them only for another torch; for another
// Python they are installed from the index.
facts::Arguments rebuild(const CheckContext& context, const facts::Distribution& distribution,
                         MadeFor made_for);

} // namespace cudaenv::rules
