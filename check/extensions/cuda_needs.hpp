// Which CUDA libraries the files of torch, CuPy and others name, and the environment does not have.
// Read from ELF headers; no library is loaded.
#pragma once

#include "base/goes_on.hpp"
#include "solver/facts/extension.hpp"
#include "solver/facts/inventory.hpp"

#include <string>
#include <vector>

namespace cudaenv::extensions {

// Where the loader and Python look outside of the environment.
struct LoaderPlaces {
    std::vector<std::string> directories;   // LD_LIBRARY_PATH, then the system's own
    std::vector<std::string> python_path;   // sys.path before the environment's site-packages
    std::string cache = "/etc/ld.so.cache"; // absolute
};

// By distribution, then by soname; of one that several files name, the first file.
//
// A library counts as there where any rule finds it that one of the framework's versions has:
// beside the file, along DT_RPATH or DT_RUNPATH, in nvidia/*/lib of a directory of sys.path (torch
// and ONNX Runtime load it from there), in the prefix's lib/.
std::vector<facts::MissingLibrary> missing_cuda_libraries(const facts::Inventory& inventory,
                                                          const LoaderPlaces& places,
                                                          const GoesOn& wanted = {});

} // namespace cudaenv::extensions
