// Which build a program is: the version, and the revision it was built from where that is known.
// Client and daemon of one build say the same; a client that meets another build's daemon can tell.
#pragma once

#include <cstdint>
#include <string_view>

namespace cudaenv::protocol {

std::string_view version();  // "0.1.0"
std::string_view build_id(); // "0.1.0+g1a2b3c4", "0.1.0+g1a2b3c4.changed", or "0.1.0"
std::int64_t built();        // when that revision was made, Unix seconds; 0 where it is not known

} // namespace cudaenv::protocol
