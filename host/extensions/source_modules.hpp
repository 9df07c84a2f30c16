// The compiled modules in the source directory of an editable install, where a build in place puts
// them.
#pragma once

#include "solver/facts/inventory.hpp"

#include <string>
#include <vector>

namespace cudaenv::host {

// Absolute, sorted. Environments within it, build/, dist/ and hidden directories are not looked at,
// links not followed; no deeper than six directories, and no more than 20,000 names in all.
std::vector<std::string> modules_of_source(const facts::Inventory& inventory,
                                           const facts::Distribution& distribution);

} // namespace cudaenv::host
