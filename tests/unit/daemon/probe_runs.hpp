// Probes that were run, for tests of what is kept of them.
#pragma once

#include "daemon/probe/probe.hpp"

#include <utility>
#include <vector>

namespace cudaenv::test {

inline judge::JudgedStep step(const char* name, judge::StepStatus status, const char* code = "") {
    judge::JudgedStep made;
    made.name = name;
    made.status = status;
    made.code = code;
    made.detail = "refused";
    return made;
}

// A rung that failed because somebody else has what it needs.
inline judge::JudgedStep busy(const char* name, const char* code) {
    judge::JudgedStep made = step(name, judge::StepStatus::Fails, code);
    made.in_use = true;
    return made;
}

// One whose ladder is all that it did.
inline daemon::ProbeRun run_of(judge::ProbeVerdict verdict, std::vector<judge::JudgedStep> steps) {
    daemon::ProbeRun made;
    made.ladder.verdict = verdict;
    made.ladder.summary = "a summary";
    made.ladder.steps = std::move(steps);
    made.outcome = made.ladder;
    host::DiskFileSystem files;
    made.grounds = probe::grounds_of(files, probe::VerdictDepth::Quick, {});
    return made;
}

} // namespace cudaenv::test
