// Probes that were run, for tests of what is kept of them.
#pragma once

#include "daemon/probe/probe.hpp"

#include <utility>
#include <vector>

namespace cudaenv::test {

inline plan::JudgedStep step(const char* name, plan::StepStatus status, const char* code = "") {
    plan::JudgedStep made;
    made.name = name;
    made.status = status;
    made.code = code;
    made.detail = "refused";
    return made;
}

// A rung that failed because somebody else has what it needs.
inline plan::JudgedStep busy(const char* name, const char* code) {
    plan::JudgedStep made = step(name, plan::StepStatus::Fails, code);
    made.in_use = true;
    return made;
}

// One whose ladder is all that it did.
inline daemon::ProbeRun run_of(plan::ProbeVerdict verdict, std::vector<plan::JudgedStep> steps) {
    daemon::ProbeRun made;
    made.ladder.verdict = verdict;
    made.ladder.summary = "a summary";
    made.ladder.steps = std::move(steps);
    made.outcome = made.ladder;
    host::DiskFileSystem files;
    made.grounds = host::grounds_of(files, host::VerdictDepth::Quick, {});
    return made;
}

} // namespace cudaenv::test
