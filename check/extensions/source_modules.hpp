// The compiled modules in the source directory of an editable install, where a build in place puts
// them.
#pragma once

#include "solver/facts/inventory.hpp"

#include <string>
#include <vector>

namespace cudaenv::extensions {

// Absolute, sorted. Environments within it, build/, dist/ and hidden directories are not looked at,
// links not followed; no deeper than six directories, and no more than 20,000 names in all.
// Those of an egg that is a directory as well.
std::vector<std::string> modules_of_source(const facts::Inventory& inventory,
                                           const facts::Distribution& distribution);

// Those in build/lib.* of the source directory, also of one that was installed from there, which
// the environment's Python would be given by the next build: setuptools recompiles a module only
// where a source of it is newer. None where a file of C, C++ or CUDA there is newer, or where there
// are more than 20,000 names. No deeper than twelve directories.
std::vector<std::string> modules_of_build(const facts::Distribution& distribution);

} // namespace cudaenv::extensions
