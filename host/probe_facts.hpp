// What `cudaenv-probe --facts` prints, read back. Pure; it believes nothing: a value that is not
// plausible is left out and reported as an error of the probe.
#pragma once

#include "base/result.hpp"
#include "solver/facts/host.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

struct ProbeFacts {
    std::optional<DottedVersion> driver_version;
    std::optional<DottedVersion> cuda;
    std::vector<facts::Gpu> gpus; // source "NVML"
    std::vector<std::string> errors;
};
// Error: "bad-probe-answer".
Result<ProbeFacts> parse_probe_facts(std::string_view line);

} // namespace cudaenv::host
