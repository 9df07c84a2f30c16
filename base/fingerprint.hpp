// Texts told apart by 64 bits, for names of what is kept. What it was of is nobody's business; who
// could gain by a collision has no say in the text.
#pragma once

#include <string>
#include <string_view>

namespace cudaenv {

// FNV-1a, as decimal digits.
std::string fingerprint(std::string_view text);

} // namespace cudaenv
