// What a probe may report, and the finding that it is: the table behind the tests of the judge.
// Each row changes one thing of a healthy machine; the rows are in cases/, a file for each part of
// the ladder. Sentences are in tests/golden/findings/probe.txt alone.
#pragma once

#include "tests/unit/judge/bench.hpp"

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
    judge::StepStatus status;
    judge::ProbeVerdict verdict;
    const char* situation;      // the case of the code in data/findings.json
    facts::Arguments arguments; // among those of the finding; of a row without a code "line" is a
                                // part of its line
};

std::span<const Case> cases();
// Each row with what is judged of it.
void for_each_judged(const std::function<void(const Case&, const judge::ProbeOutcome&)>& check);

} // namespace cudaenv::testing
