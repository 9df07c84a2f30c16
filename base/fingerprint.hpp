// Texts distinguished by 64 bits, for names of stored values. The text itself stays private; who
// could gain by a collision has no say in the text.
#pragma once

#include <string>
#include <string_view>

namespace cudaenv {

// FNV-1a, as decimal digits.
std::string fingerprint(std::string_view text);

} // namespace cudaenv
