// The tools that know environments by name, and the directories in which each looks, in its order.
#pragma once

#include "host/environment.hpp"
#include "host/file_system.hpp"
#include "host/trusted/trusted_file.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace cudaenv::names {

// A path as Python's os.path makes it of what stands in a configuration file.
struct PathContext {
    const host::Environment* environment = nullptr;
    std::string home;
    std::string directory; // what a relative path starts from
};

// $NAME, ${NAME}, ~ and ~USER expanded, absolute, "." and ".." taken out, links kept. A variable
// that is not set stays as it is written and is added to `unset`.
std::string expand_path(const std::string& written, const PathContext& context,
                        std::set<std::string>& unset);

struct NameSources {
    host::FileSystem* files = nullptr;
    PathContext context; // of the caller
    // Whether the caller may write a file; conda's order depends on it.
    std::function<bool(const std::string&)> may_write;
    // The text of a file that says where environments lie.
    std::function<trusted::TrustedFile(const std::string&)> read;
};

struct SearchTool {
    std::string name; // "conda", "mamba", "pixi"
    std::string root; // what it calls base; empty: it has none
    std::vector<std::string> directories;
};

struct SearchTools {
    std::vector<SearchTool> active;      // those that this shell would start
    std::vector<SearchTool> others;      // installed in the usual places
    std::vector<std::string> registered; // prefixes of ~/.conda/environments.txt
    std::vector<std::string> notes;      // configuration that is broken, ambiguous or not trusted
    std::set<std::string> unset; // variables that a configuration names and that are not set
};

SearchTools search_tools(const NameSources& sources);

} // namespace cudaenv::names
