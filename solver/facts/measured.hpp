// What was measured, put in the place of what was looked up. Pure.
// Law: only what the probe saw is replaced; a value keeps its origin until then, and where two
// disagree both are reported.
#pragma once

#include "solver/facts/host.hpp"

namespace cudaenv::facts {

inline constexpr const char* k_measured_source = "measured by cudaenv probe";

// Where no GPU is known those that were seen are added, or not: with CUDA_VISIBLE_DEVICES they are
// some of them, in an order of their own.
enum class UnknownGpus { Add, Leave };

// The driver's CUDA instead of its branch's; compute capabilities of the GPUs that were seen, found
// again by uuid or name; both also where nothing was known. `host.measured` is it afterwards.
Host with_measured(Host host, Measured measured, UnknownGpus unknown = UnknownGpus::Add);

} // namespace cudaenv::facts
