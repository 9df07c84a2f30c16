// What the commands do: the functions of the rows in command_table.cpp. Each returns its exit
// status.
#pragma once

#include "base/result.hpp"
#include "cli/command_line.hpp"

namespace cudaenv::cli {

// Statuses of `cudaenv run` that are not its command's own.
constexpr int k_run_failed = 125; // cudaenv failed; the command was not started
constexpr int k_run_not_executable = 126;
constexpr int k_run_not_found = 127;

// Replaces this process by the command; returns only if that fails.
Result<int> run_command(Invocation& invocation);
Result<int> use(Invocation& invocation);
Result<int> print_hook(Invocation& invocation);
Result<int> init(Invocation& invocation);
Result<int> attach(Invocation& invocation);
Result<int> detach(Invocation& invocation);
// Status 1 if the answer is no: after `status` or `start` no daemon runs, after `stop` one does.
Result<int> daemon_command(Invocation& invocation);
// With --watch: redrawn every two seconds on a terminal, shown once elsewhere; with --json a line
// every two seconds anywhere. Status 1, and only once, if NVML does not answer.
Result<int> probe(Invocation& invocation);
// With --fix: status 0 if no selected finding remains, 1 if one does, 3 if a step failed.
Result<int> check(Invocation& invocation);
Result<int> env(Invocation& invocation);
Result<int> print_completions(Invocation& invocation);
Result<int> show_schema(Invocation& invocation);
// One answer a line, in the order of the questions; those of a batch are written before the next is
// asked. Errors: the daemon's; "line-too-long" with the line.
Result<int> stream_oracle(Invocation& invocation);

} // namespace cudaenv::cli
