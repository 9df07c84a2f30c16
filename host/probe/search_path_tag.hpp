// Where a shared library looks for the ones it needs: before LD_LIBRARY_PATH (DT_RPATH, as torch's
// wheels and conda's packages have it) or after (DT_RUNPATH, what linkers write by themselves); and
// whether it is one for this machine. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace cudaenv::probe {

enum class SearchPathTag { None, Rpath, Runpath };

// Of a 64-bit little-endian ELF file, whole or cut off; None also where the part that would say so
// is not there. ld.so ignores DT_RPATH where both are.
SearchPathTag search_path_tag(std::string_view file);

// False for an ELF file of another machine or word size, which ld.so passes over; what is no ELF
// file it opens, and fails. The first `k_head_that_tells` bytes are enough.
inline constexpr std::size_t k_head_that_tells = 20;
bool loads_here(std::string_view file);

} // namespace cudaenv::probe
