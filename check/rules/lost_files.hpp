// Which claimed files are not what each record says, and whose content they hold instead. Pure. One
// pass over what was found on the disk, else over the paths that two records share.
#pragma once

#include "check/rules/parties.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cudaenv::rules {

// What one package lost, before it is said to whom. Each list sorted by path.
struct Lost {
    std::map<Party, std::vector<std::string>> replaced; // by writer
    std::vector<std::string> gone;
    std::vector<std::string> changed;
};

struct LostFiles {
    std::map<Party, Lost> by_party;
    // Pairs of victim and writer of which it is unknown who wrote last.
    std::set<std::pair<Party, Party>> unordered;
};

LostFiles find_lost_files(const CheckContext& context);

} // namespace cudaenv::rules
