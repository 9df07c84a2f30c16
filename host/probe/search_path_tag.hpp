// Where a shared library looks for the ones it needs: before LD_LIBRARY_PATH (DT_RPATH, as torch's
// wheels and conda's packages have it) or after (DT_RUNPATH, what linkers write by themselves).
// Pure.
#pragma once

#include <string_view>

namespace cudaenv::host {

enum class SearchPathTag { None, Rpath, Runpath };

// Of a 64-bit little-endian ELF file, whole or cut off; None also where the part that would tell is
// not there. ld.so ignores DT_RPATH where both are.
SearchPathTag search_path_tag(std::string_view file);

} // namespace cudaenv::host
