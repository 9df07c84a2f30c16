// Whether GPUs that CUDA does not show are in MIG mode, which no file says: a MIG-capable GPU has
// its directory in /proc/driver/nvidia/capabilities whether it is on or off.
//
// Law: NVML is asked, in a child with a deadline, and only where CUDA answered and showed no GPU.
#pragma once

#include "host/process.hpp"
#include "solver/facts/host.hpp"
#include "solver/facts/probe.hpp"

#include <string>
#include <vector>

namespace cudaenv::probe {

// `program`: cudaenv-probe. `gpus`: those found in files; they get their mode by UUID, and
// the ones that only NVML knows are added.
void learn_mig_mode(host::ProcessRunner& processes, const std::string& program,
                    const std::vector<std::string>& environment, const facts::ProbeReport& report,
                    std::vector<facts::Gpu>& gpus);

} // namespace cudaenv::probe
