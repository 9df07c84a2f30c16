// What a probe may report, and what is to be said of it: the table behind the tests of the judge.
// Each row changes a healthy machine (an H200 with driver 580.159.04, torch 2.11.0+cu130 in a venv)
// in the one thing that it is about.
#pragma once

#include "solver/plan/probe/judge.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::testing {

struct Bench {
    facts::Host host;
    facts::EnvironmentFacts environment;
    plan::ProbeContext context;
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
    // Lost in the middle of a step.
    void lost(facts::ProbeStep step, facts::ProbeReport::Ending ending, const char* failure);
    void loads_libcuda(const char* path);
    void gives_cuda(const char* driver, const char* cuda);
    void runs_on(const char* runtime);
    void has_gpu(const char* name, ComputeCapability capability);
    void climbs_all(); // --full, all right

    [[nodiscard]] plan::ProbeOutcome judged() const;
};

struct Case {
    const char* what; // a sentence
    std::function<void(Bench&)> change;
    facts::ProbeStep step;
    const char* code;
    plan::StepStatus status;
    plan::ProbeVerdict verdict;
    const char* detail;  // what the line says of it, or a part
    const char* cause;   // a part of it
    const char* command; // a part of the fix's command; empty: of its text it is enough that it is;
                         // null: there is no fix
};

std::span<const Case> cases();

} // namespace cudaenv::testing
