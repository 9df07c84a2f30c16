// What compilers and built programs say, read into a rung. Pure.
#pragma once

#include "host/process.hpp"
#include "solver/facts/probe.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace cudaenv::host {

// The end of what compilers said, for a person: the last `most` lines that say something, without
// those that only repeat that something failed, and without secrets; whole characters.
std::string last_words(const ChildOutcome& outcome, std::size_t most = 12);
// A compiler's words for a place that is full; empty where they tell something else.
std::string_view no_room(const ChildOutcome& outcome);
// Whether nvcc or what it starts says it, of the source or of itself.
bool are_compilers_words(const ChildOutcome& built);
// The last line, without blanks at its ends.
std::string_view last_line(std::string_view text);

// The rung has failed in that call, as the process ended.
void fail(facts::ProbeRung& rung, std::string call, const ChildOutcome& outcome);
// Of the built program's last line: "failed cudaMalloc 35 cudaErrorInsufficientDriver", "wrong
// ...". False where it says something else.
bool take_refusal(facts::ProbeRung& rung, std::string_view line);
bool take_wrong(facts::ProbeRung& rung, std::string_view line);

} // namespace cudaenv::host
