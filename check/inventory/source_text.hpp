// How an environment leads to source elsewhere: .pth files and egg-links. Pure text.
#pragma once

#include "check/inventory/claimed_path.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::inventory {

struct PathFileText {
    std::vector<std::string> directories; // absolute
    std::vector<std::string> finders;     // modules imported whose name says "editable"
};

// As Python's site module reads it: a line is a directory, seen from `site`, or begins with
// "import" and is run.
PathFileText parse_path_file(std::string_view text, std::string_view site, ClaimedPaths& paths);

// The directory that an egg-link names, absolute; empty where it names none.
std::string parse_egg_link(std::string_view text, std::string_view site, ClaimedPaths& paths);

} // namespace cudaenv::inventory
