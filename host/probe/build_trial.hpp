// The rungs of `cudaenv probe --build`: what nvcc and its host compiler make of a small program,
// and what the environment's torch makes of a small extension.
//
// Law: everything is written into one directory of the caller's; children have a deadline and are
// killed whole; a GPU is touched only by the programs that were built, and only the one that
// aim() chose.
#pragma once

#include "base/compute_capability.hpp"
#include "host/process.hpp"
#include "solver/facts/host.hpp"
#include "solver/facts/probe.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::probe {

struct BuildTrial {
    std::string nvcc; // the program; empty: there is none, `no_nvcc` says why
    std::string no_nvcc;
    std::optional<DottedVersion> version;         // of the toolkit
    std::optional<facts::Compiler> host_compiler; // none: nvcc takes what it finds
    std::vector<std::string> environment;         // "NAME=value", activated
    std::string directory;                        // private to this trial, exists
    std::vector<ComputeCapability> gpus; // to compile for, each once; empty: nvcc's own choice
    std::string not_run;                 // why what was built is not run; empty: it is
    // What was built runs for a second or two; its first start loads the driver.
    std::chrono::milliseconds longest_run{20'000};
};

// Failed, by facts::k_write_call.
facts::ProbeRung unwritten_trial(const std::string& why);
// None where nvcc works below `directory`. nvcc passes file names on through a shell, in double
// quotes, and to fatbinary in a list: seen of nvcc 13.0.
std::optional<facts::ProbeRung> unfit_place(const std::string& directory);

// Takes from the ladder's report which GPUs to compile for, and the one on which what was built is
// to run: on which the probe's kernel did, and which is neither exclusive nor busy. The
// environment's CUDA_VISIBLE_DEVICES then shows that one alone, and none where there is none. Pure.
void aim(BuildTrial& trial, const facts::ProbeReport& report);

// Compiles, links and runs.
facts::ProbeRung try_program(const BuildTrial& trial, host::ProcessRunner& processes,
                             std::chrono::milliseconds deadline);
// The same through torch.utils.cpp_extension of the `python` given.
facts::ProbeRung try_torch_extension(const BuildTrial& trial, const std::string& python,
                                     host::ProcessRunner& processes,
                                     std::chrono::milliseconds deadline);

// What compilers and built programs say, read into a rung. Pure.

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
