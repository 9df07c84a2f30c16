// A path as Python's os.path makes it of what stands in a configuration file.
#pragma once

#include "host/environment.hpp"

#include <set>
#include <string>

namespace cudaenv::names {

struct PathContext {
    const host::Environment* environment = nullptr;
    std::string home;
    std::string directory; // what a relative path starts from
};

// $NAME, ${NAME}, ~ and ~USER expanded, absolute, "." and ".." taken out, links kept. A variable
// that is not set stays as it is written and is added to `unset`.
std::string expand_path(const std::string& written, const PathContext& context,
                        std::set<std::string>& unset);

} // namespace cudaenv::names
