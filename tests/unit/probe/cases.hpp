// What a probe may report, and what is to be said of it: the table behind the tests of the judge.
// Each row changes a healthy machine in the one thing that it is about; the rows stand in cases/, a
// file for each part of the ladder.
#pragma once

#include "tests/unit/probe/bench.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::testing {

using Change = std::function<void(Bench&)>; // to a healthy machine

struct Case {
    const char* what; // a sentence
    Change change;
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
// Each row with what is judged of it.
void for_each_judged(const std::function<void(const Case&, const plan::ProbeOutcome&)>& check);

} // namespace cudaenv::testing
