// Compiled modules of the environment that were built for another torch, CUDA or Python than is
// installed now. Pure. Law: only what the module's own file, or its name, proves.
#pragma once

#include "check/rules/torch_pairing.hpp"
#include "solver/facts/finding.hpp"

#include <string>
#include <string_view>
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

// What the file name of a compiled Python module says. Pure text.

// "cpython-311-x86_64-linux-gnu" of apex_C.cpython-311-x86_64-linux-gnu.so, "abi3" of x.abi3.so;
// empty for x.so and for libx.so.1.
std::string_view python_tag_of(std::string_view file_name);
// "3.11" of a tag; empty of one that is of no single CPython ("abi3", "pypy39-pp73").
std::string python_of_tag(std::string_view tag);
// "3.11" of lib/python3.11/site-packages; empty where the path does not tell (python3).
std::string python_of_site(std::string_view site);
// The path up to what the name of the module itself ends with: "a/apex_C".
std::string_view module_stem(std::string_view path);

} // namespace cudaenv::rules
