// What compiled modules and libraries ask of the framework, the NumPy and the CUDA libraries that
// they are loaded with, as their files say. Pure data.
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

// A module that the installed NumPy refuses.
struct NumpyModule {
    std::uint32_t distribution = 0; // of Inventory::distributions
    std::string path;               // relative to the prefix, or absolute
    bool is_for_numpy_1 = false;    // compiled with the headers of NumPy 1
    std::string least;              // "2.0": the oldest that it accepts; empty: NumPy 1
};

// A CUDA library that a framework's files name and that the environment does not have.
struct MissingLibrary {
    std::uint32_t distribution = 0; // of Inventory::distributions: whose file names it
    std::string path;               // of that file, relative to the prefix, or absolute
    std::string soname;             // "libcublas.so.12"
    // Where the loader finds it outside of the environment: a toolkit in LD_LIBRARY_PATH or
    // ld.so.cache. Empty: nowhere.
    std::string outside;
};

} // namespace cudaenv::facts
