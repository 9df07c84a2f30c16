// What the rules of CE106 share.
#pragma once

#include "check/rules/check.hpp"

#include <string>

namespace cudaenv::rules {

// "numpy 1.26.4"
std::string title_of(const facts::Leftover& left);

} // namespace cudaenv::rules
