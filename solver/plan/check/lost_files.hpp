// Which claimed files are not what each record says, and whose they are instead. Pure. One pass:
// over what was found on the disk, else over the paths that two records share.
#pragma once

#include "solver/plan/check/parties.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cudaenv::plan {

// What one package lost, before it is said to whom. Each list sorted by path.
struct Lost {
    std::map<Party, std::vector<std::string>> replaced; // by writer
    std::vector<std::string> gone;
    std::vector<std::string> changed;
};

struct LostFiles {
    std::map<Party, Lost> by_party;
    // Pairs of victim and writer of which it cannot be told who wrote last.
    std::set<std::pair<Party, Party>> unordered;
};

LostFiles find_lost_files(const CheckScene& scene);

} // namespace cudaenv::plan
