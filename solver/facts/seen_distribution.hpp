// What an environment held when it was last looked at, as far as records that an installer takes
// away cannot tell it afterwards. Pure data; the daemon keeps it.
#pragma once

#include <cstdint>
#include <string>

namespace cudaenv::facts {

enum class Origin : std::uint8_t {
    Wheel,    // of an index, or conda's
    Kept,     // such a one, of which somebody keeps a copy: changed by hand, or hard to get
    Built,    // from a directory, a repository or an archive of source
    Editable, // imported from its source directory
};

struct SeenDistribution {
    std::string name;    // PEP 503
    std::string version; // 1.12.0a0+git664058f
    Origin origin = Origin::Wheel;
    std::string source;            // ~/src/pytorch, git+https://...@commit; empty: not known
    std::string metadata;          // relative to the prefix
    std::int64_t installed_ns = 0; // since the epoch
    std::uint32_t files = 0;       // that it claimed
    bool pure = false;             // Built, and certainly nothing of it was compiled
    // Since the epoch: the first look that did not find it any more; 0: it is here, or replaced.
    std::int64_t gone_ns = 0;
};

} // namespace cudaenv::facts
