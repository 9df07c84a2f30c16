// What Python imports before the environment's own packages: PYTHONPATH, and the user's own
// site-packages (~/.local), as site.py has it. Names of files alone are read.
#pragma once

#include "solver/facts/earlier_site.hpp"
#include "solver/facts/inventory.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::inventory {

// The variables that decide, empty where they are not set.
struct PythonVariables {
    std::string python_path;  // PYTHONPATH
    std::string no_user_site; // PYTHONNOUSERSITE
    std::string user_base;    // PYTHONUSERBASE
    std::string home;         // HOME
};

// In the order of sys.path. A directory that is one of the environment's own, or that is not there,
// is left out; so is a relative one. A virtual environment has no user's site-packages, or, where
// it sees those of its Python, has them behind its own.
std::vector<facts::EarlierSite> earlier_sites(const facts::Inventory& inventory,
                                              const PythonVariables& variables);

} // namespace cudaenv::inventory
