// Names of environments: which directory `-n NAME` means, and what an environment is called.
//
// Law: the first directory of a tool's list wins, as in the tool; where two tools of this shell
// mean different directories, neither is taken.
#pragma once

#include "base/result.hpp"
#include "host/names/search_tools.hpp"

#include <string>

namespace cudaenv::names {

// What makes a directory an environment, by the files in it.
enum class PrefixKind { None, Conda, Venv };
PrefixKind kind_of_prefix(host::FileSystem& files, const std::string& prefix);

// The prefix. Tools of this shell are asked first, then those in the usual places, then
// ~/.conda/environments.txt. Errors: "ambiguous-environment", "no-such-environment".
Result<std::string> prefix_named(const std::string& name, const SearchTools& tools,
                                 host::FileSystem& files);

// "base" for a tool's root, else the name of its directory.
std::string name_of_prefix(const std::string& prefix, const SearchTools& tools);

} // namespace cudaenv::names
