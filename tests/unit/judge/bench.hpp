// A healthy machine, as the probe reports it and as the judge is reported of it (an H200 with driver
// 580.159.04, torch 2.11.0+cu130 in a venv), and ways to break it.
#pragma once

#include "kernels/judge/judge.hpp"

namespace cudaenv::testing {

struct Bench {
    facts::Host host;
    facts::EnvironmentFacts environment;
    judge::ProbeContext context;
    facts::ProbeReport report;

    Bench();
    Bench(const Bench&) = delete; // the context points into it
    Bench& operator=(const Bench&) = delete;

    facts::ProbeRung& rung(facts::ProbeStep step); // of GPU 0 where it is of a GPU; made if new
    void drop_after(facts::ProbeStep step);
    // A call that returned a number; what is above does not stand on it any more.
    void fails(facts::ProbeStep step, const char* call, int error, const char* name = "");
    void refuses(facts::ProbeStep step, const char* call, const char* message);
    void skips(facts::ProbeStep step, const char* message);
    void lacks(facts::ProbeStep step); // the library of that step was not found
    // Lost in the middle of a step.
    void lost(facts::ProbeStep step, facts::ProbeReport::Ending ending, const char* failure);
    void loads_libcuda(const char* path);
    void gives_cuda(const char* driver, const char* cuda);
    void runs_on(const char* runtime);
    void has_gpu(const char* name, ComputeCapability capability);
    void climbs_all(); // --full, all right

    [[nodiscard]] judge::ProbeOutcome judged() const;

private:
    facts::ProbeRung& failed(facts::ProbeStep step, const char* call);
};

} // namespace cudaenv::testing
