// LD_LIBRARY_PATH as ld.so reads it.
#pragma once

#include "host/file_system.hpp"
#include "solver/facts/environment.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::probe {

// What ld.so puts in the place of $ORIGIN and $LIB in LD_LIBRARY_PATH; empty: not known.
struct LoaderTokens {
    std::string origin; // the directory of the program that runs, links followed
    std::string lib;    // lib/x86_64-linux-gnu
};
// Of the environment's python: /usr/bin for most virtual environments, whose bin/python is a link.
LoaderTokens loader_tokens(host::FileSystem& files,
                           const std::optional<facts::EnvironmentFacts>& environment);

// The directories that LD_LIBRARY_PATH names, as ld.so has them: between colons and semicolons, a
// relative one below `cwd`, an empty one `cwd` itself; an empty list names none. Relative ones are
// left out where `cwd` is not known, those with a token where its value is not ($PLATFORM always).
std::vector<std::string> loader_directories(std::string_view list, const std::string& cwd,
                                            const LoaderTokens& tokens = {});

// Where a shared library looks for the ones it needs: before LD_LIBRARY_PATH (DT_RPATH, as torch's
// wheels and conda's packages have it) or after (DT_RUNPATH, what linkers write by themselves); and
// whether it is one for this machine. Pure.
enum class SearchPathTag { None, Rpath, Runpath };

// Of a 64-bit little-endian ELF file, whole or cut off; None also where the part that would say so
// is not there. ld.so ignores DT_RPATH where both are.
SearchPathTag search_path_tag(std::string_view file);

// False for an ELF file of another machine or word size, which ld.so passes over; what is no ELF
// file it opens, and fails. The first `k_head_that_tells` bytes are enough.
inline constexpr std::size_t k_head_that_tells = 20;
bool loads_here(std::string_view file);

} // namespace cudaenv::probe
