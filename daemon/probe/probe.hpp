// `cudaenv probe`: the child is started for one caller and its report judged.
//
// Law: it ends within the deadlines below, whatever the driver does; no prompt waits for it.
#pragma once

#include "daemon/activation/activation.hpp"
#include "host/probe/probe_request.hpp"
#include "solver/facts/probe.hpp"
#include "solver/plan/probe/judge.hpp"

namespace cudaenv::daemon {

struct ProbeWishes {
    bool full = false;
    bool build = false;    // the chosen nvcc too, and the environment's torch
    bool all_gpus = false; // not only those that CUDA_VISIBLE_DEVICES shows
};

struct ProbeRun {
    facts::Host host; // the driver and the GPUs as the machine's files show them
    host::ProbeLibraries libraries;
    facts::ProbeReport report;
    plan::ProbeOutcome ladder;  // what cudaenv-probe alone showed
    plan::ProbeOutcome outcome; // with what was built
};

// Children are killed once `stop_event` is readable (host/process.hpp).
// Errors (Unavailable): "no-probe", cudaenv-probe is not there.
Result<ProbeRun> run_probe(const Activation& activation, const ProbeWishes& wishes,
                           const protocol::Caller& caller, Machine& machine, int stop_event = -1);

} // namespace cudaenv::daemon
