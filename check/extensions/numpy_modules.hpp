// For which NumPy the compiled modules of an environment are built: NumPy's headers put the text of
// their version test into every module. No module is loaded, no Python started.
#pragma once

#include "base/goes_on.hpp"
#include "solver/facts/extension.hpp"
#include "solver/facts/inventory.hpp"

#include <string_view>
#include <vector>

namespace cudaenv::extensions {

// Modules that do not work with the installed NumPy; by distribution, then by path, at most four of
// each. Only distributions that require NumPy are read, each up to the first module that does: some
// hundred kilobytes each. torch's requirement is in the tables (packages.json, `unstated`).
std::vector<facts::NumpyModule> read_numpy_modules(const facts::Inventory& inventory,
                                                   const GoesOn& wanted = {});

// What one module says; `least` and `is_for_numpy_1` are empty and false where it says nothing.
facts::NumpyModule numpy_of_module(std::string_view bytes);

} // namespace cudaenv::extensions
