// `--driver VERSION` and `--gpu CC`: single facts of a host replaced by what the user says. Pure.
#pragma once

#include "base/result.hpp"
#include "solver/facts/host.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::facts {

// Newest CUDA that a driver runs fully, by the branch table; none where the table has a gap.
using CudaOfDriver = std::function<std::optional<DottedVersion>(const DottedVersion&)>;

// `driver`: a driver version, or "none" for a host without one. `gpus`: one GPU each, as "8.6" or
// "sm_86"; a sole "none" for a host without any; empty leaves the host's own, or unknown ones where
// the host has none and a driver is given.
// Errors: "bad-version", "bad-compute-capability".
Result<Host> with_overrides(Host host, const std::optional<std::string>& driver,
                            const std::vector<std::string>& gpus,
                            const CudaOfDriver& cuda_of_driver);

} // namespace cudaenv::facts
