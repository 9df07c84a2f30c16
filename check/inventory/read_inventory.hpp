// The inventory of an environment, read from conda's and Python's records. No program is started
// and no claimed file is looked at: what it costs are the records, six system calls and more for
// each.
#pragma once

#include "base/result.hpp"
#include "solver/facts/inventory.hpp"

#include <string>

namespace cudaenv::inventory {

// `prefix`: absolute, of conda, pixi, venv, virtualenv or uv; also one of a system (/usr) or of a
// user (~/.local). Of a venv that sees its Python's packages, those are listed apart. Fails where
// the prefix is no directory that can be opened; what cannot be read in it is a note.
// `threads`: at most so many, 0: as many as there are cores, up to 4. The result is the same for
// all. 12 ms for 500 packages with 60,000 files.
Result<facts::Inventory> read_inventory(const std::string& prefix, unsigned threads = 0);

} // namespace cudaenv::inventory
