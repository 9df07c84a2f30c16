// `cudaenv probe`: the child is started for one caller and its report judged.
//
// Law: it ends within the deadlines below, whatever the driver does; no prompt waits for it.
#pragma once

#include "daemon/activation/activation.hpp"
#include "daemon/waiter.hpp"
#include "host/probe/library_search.hpp"
#include "host/probe/verdict_store.hpp"
#include "kernels/judge/judge.hpp"
#include "solver/facts/probe.hpp"

#include <chrono>
#include <cstddef>

namespace cudaenv::daemon {

struct ProbeWishes {
    bool full = false;
    bool build = false;    // the chosen nvcc too, and the environment's torch
    bool all_gpus = false; // not only those that CUDA_VISIBLE_DEVICES shows
};

// The shell that the question is asked for, which the ladder is climbed in and the verdict is kept
// for: with --all-gpus one without CUDA_VISIBLE_DEVICES. CUDAENV_DISABLE is about what is changed
// in shells; a probe changes nothing and was asked for.
protocol::Caller asking_for(protocol::Caller caller, const ProbeWishes& wishes);

// How long the ladder may take on a machine with so many GPUs.
std::chrono::seconds ladder_deadline(bool full, std::size_t gpus);

struct ProbeRun {
    facts::Host host; // the driver and the GPUs as the machine's files show them
    probe::ProbeLibraries libraries;
    probe::VerdictGrounds grounds; // as they were before the child was started
    facts::ProbeReport report;
    judge::ProbeOutcome ladder;  // what cudaenv-probe alone showed
    judge::ProbeOutcome outcome; // with what was built
};

// Tells the waiter each rung as it is begun. Once it is gone children are killed
// (host/process.hpp), what was written is removed, and nothing more is begun. Errors (Unavailable):
// "no-probe", cudaenv-probe is not there; "stopped", no client waits for it.
Result<ProbeRun> run_probe(const Activation& activation, const ProbeWishes& wishes,
                           const protocol::Caller& caller, Machine& machine,
                           const Waiter& waiter = {});

} // namespace cudaenv::daemon
