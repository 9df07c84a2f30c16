// What a compiled extension module asks of the framework and the runtime that it is loaded into, as
// its file says. Pure data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudaenv::facts {

// One shared object of a distribution that links torch.
struct ExtensionModule {
    std::string path;                // relative to the prefix, or absolute
    std::uint32_t distribution = 0;  // of Inventory::distributions
    std::vector<std::string> needed; // DT_NEEDED: "libc10.so", "libcudart.so.11.0"
    // Strong undefined symbols that neither torch's libraries nor those of the environment that it
    // names define; sorted, mangled. Empty also where torch's libraries could not be read.
    std::vector<std::string> unresolved;
    // Two mangled names that differ only by C++'s ABI: one of `unresolved`, and the one that
    // torch's libraries define in its place. Empty: there is no such pair.
    std::string asked_with_other_abi;
    std::string defined_with_other_abi;
    // Of `needed`, those that are torch's by their names and are not among its libraries:
    // "libc10_cuda.so" beside a CPU build. Empty also where those could not be listed.
    std::vector<std::string> missing_of_torch;
    std::string python_tag; // of its name: "cpython-311-x86_64-linux-gnu", "abi3"; empty: none
    std::string problem;    // why it could not be read; empty: it was
    // It lies in build/ of the source and no file of that is newer: setuptools takes it from there
    // as it is when it builds next. Nothing imports it.
    bool in_build = false;
};

} // namespace cudaenv::facts
