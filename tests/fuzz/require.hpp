// How a fuzz target says that a law does not hold.
#pragma once

#include <cstdlib>

inline void require(bool law) {
    if (!law) {
        std::abort();
    }
}
