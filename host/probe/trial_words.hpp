// What compilers and built programs say, read into a rung. Pure.
#pragma once

#include "host/process.hpp"
#include "solver/facts/probe.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace cudaenv::probe {

// The end of a compiler's output, for a person: its last `most` lines and, above them, the line of
// the cause. Without lines that only repeat that something failed, and without secrets; whole
// characters.
std::string last_words(const host::ChildOutcome& outcome, std::size_t most = 12);
// The first line that names an error, without the file at its beginning: "fatal   : Unsupported
// .version 9.5; current version is '9.0'". Empty: no line does.
std::string cause_line(const host::ChildOutcome& outcome);
// A compiler's words for a place that is full; empty where they say something else.
std::string_view no_room(const host::ChildOutcome& outcome);
// Whether the words are of nvcc or of a program that it starts.
bool are_compilers_words(const host::ChildOutcome& built);
// The last line, without blanks at its ends.
std::string_view last_line(std::string_view text);

// The rung has failed in that call, as the process ended.
void fail(facts::ProbeRung& rung, std::string call, const host::ChildOutcome& outcome);
// Of the built program's last line: "failed cudaMalloc 35 cudaErrorInsufficientDriver", "wrong
// ...". False where it says something else.
bool take_refusal(facts::ProbeRung& rung, std::string_view line);
bool take_wrong(facts::ProbeRung& rung, std::string_view line);

} // namespace cudaenv::probe
