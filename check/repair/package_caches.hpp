// Where conda, mamba, rattler and pixi keep packages extracted, from which an environment's files
// were linked.
#pragma once

#include "host/environment.hpp"
#include "solver/facts/inventory.hpp"

#include <string>
#include <vector>

namespace cudaenv::repair {

// Directories that hold NAME-VERSION-BUILD/, in the order to look: those that variables name, those
// of the installs of this machine and of the environment's own root, those below the home. Whether
// they are there is not looked at.
std::vector<std::string> package_caches(const host::Environment& environment,
                                        const std::string& home, const std::string& prefix);

// Where the package may be, the place on its record first.
std::vector<std::string> extracted_places(const facts::CondaPackage& package,
                                          const std::vector<std::string>& caches);

} // namespace cudaenv::repair
