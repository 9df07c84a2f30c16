// The tools that know environments by name, and the directories in which each looks, in its order.
#pragma once

#include "host/file_system.hpp"
#include "host/names/expand_path.hpp"
#include "host/trusted/trusted_file.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace cudaenv::names {

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
