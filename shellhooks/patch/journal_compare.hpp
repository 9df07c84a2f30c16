// A journal against the shell that has it, and against another journal. Pure.
#pragma once

#include "shellhooks/patch/patch.hpp"

#include <vector>

namespace cudaenv::patch {

// Entries that the journal says were added and that their list no longer has, in the journal's
// order; none where it cannot be read.
std::vector<AddEntry> lost_entries(const Variables& environment);

// Whether two journals come of the same patch: the same values set, the same entries added.
bool is_same_patch(const Journal& a, const Journal& b);

} // namespace cudaenv::patch
