// Which packages import, as soon as they are imported themselves, what is not installed. Their
// source is read as text; no Python is started.
#pragma once

#include "base/goes_on.hpp"
#include "solver/facts/inventory.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::inventory {

// Only of distributions with a requirement that no distribution of the inventory meets by its name:
// their packages' __init__.py and what that imports of their own files, all of it by statements
// that are not indented, and so are executed without a condition. At most some hundred files each.
std::vector<facts::FailingImport> failing_imports(const facts::Inventory& inventory,
                                                  const GoesOn& wanted = {});

// The modules that statements without indentation import: "torch._C", ".core" and "..utils" of
// relative ones (`from . import x` is ".x"); with their line.
std::vector<std::pair<std::string, unsigned>> imports_of_source(std::string_view text);

} // namespace cudaenv::inventory
