// What a probe measured of the machine, for whoever asks what the machine is.
//
// Law: it is of the machine and not of the environment that was active, so that every environment's
// questions have it: the newest that holds. Nothing here starts a probe.
#pragma once

#include "daemon/looks.hpp"
#include "daemon/probe/probe.hpp"
#include "protocol/caller.hpp"
#include "solver/facts/host.hpp"

#include <optional>

namespace cudaenv::daemon {

// A rung counts as failed where it is the machine's own, and only what should work here failed: not
// a busy GPU, no driver where no module is loaded, GPUs that are hidden or not there.
facts::Measured measured_of(const ProbeRun& run, const protocol::Caller& caller);

// Kept beside the verdicts, for shells with the caller's variables that change what CUDA answers.
void keep_measured(const facts::Measured& measured, const ProbeRun& run, const ProbeWishes& wishes,
                   const protocol::Caller& caller);

// None where nothing is kept, or the boot, the driver or the GPUs are not as they were.
std::optional<facts::Measured> kept_measured(const protocol::Caller& caller, Looks& looks);
std::optional<facts::Measured> kept_measured(const protocol::Caller& caller);

// facts::with_measured, as far as the caller's CUDA_VISIBLE_DEVICES lets it be known which GPUs
// were seen.
facts::Host with_measured_for(const protocol::Caller& caller, facts::Host host,
                              facts::Measured measured);

} // namespace cudaenv::daemon
