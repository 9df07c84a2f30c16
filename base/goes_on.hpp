// How long work asks whether it is still wanted, and shows that it is at work.
#pragma once

#include "base/result.hpp"

#include <functional>

namespace cudaenv {

// Asked often, from any thread of the work. False: it is to end soon, and its result is not used.
// Empty: it always goes on.
using GoesOn = std::function<bool()>;

inline bool goes_on(const GoesOn& ask) {
    return !ask || ask();
}

// What ends so: "stopped".
inline constexpr const char* k_stopped = "stopped";
inline tl::unexpected<Error> stopped() {
    return unavailable(k_stopped, "the client has exited");
}

} // namespace cudaenv
