// What the compiled modules of an environment ask of its torch, read from their files. No module is
// loaded, no Python started.
#pragma once

#include "base/goes_on.hpp"
#include "solver/facts/extension.hpp"
#include "solver/facts/inventory.hpp"

#include <vector>

namespace cudaenv::extensions {

// The modules that link torch, and those whose name is for another Python than their directory; by
// distribution, then by path. torch's own are left out. Of an editable install those in its source
// directory too, and of one built from a directory those in its build/. A file that cannot be read
// as what it should be is there with its `problem`.
// A dozen reads a module, and a few megabytes of each of torch's libraries, those once.
std::vector<facts::ExtensionModule> read_extensions(const facts::Inventory& inventory,
                                                    const GoesOn& wanted = {});

} // namespace cudaenv::extensions
