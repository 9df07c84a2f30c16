// The commands that the client carries out by itself, with at most a question to the daemon. Each
// returns its exit status.
#pragma once

#include "base/result.hpp"
#include "cli/command_line.hpp"

namespace cudaenv::cli {

// Statuses of `cudaenv run` that are not its command's own.
constexpr int k_run_failed = 125; // cudaenv could not do its part; the command was not started
constexpr int k_run_not_executable = 126;
constexpr int k_run_not_found = 127;

// Replaces this process by the command; returns only where that fails.
Result<int> run_command(Invocation& invocation);
Result<int> use(Invocation& invocation);
Result<int> print_hook(Invocation& invocation);
Result<int> init(Invocation& invocation);
Result<int> attach(Invocation& invocation);
Result<int> detach(Invocation& invocation);
// Status 1 where the answer is no: `status` of one that does not run, `start` that did not help.
Result<int> daemon_command(Invocation& invocation);
// `cudaenv probe --watch`: drawn anew every two seconds on a terminal, once elsewhere; with --json
// a line every two seconds anywhere. Where NVML does not answer: once, status 1.
Result<int> watch_usage(Invocation& invocation);
// `cudaenv check --fix`: status 0 where nothing is left of what was chosen, 1 where something is, 3
// where a step failed.
Result<int> fix_environment(Invocation& invocation);
// `cudaenv env` with --shell, --dotenv or --github.
Result<int> write_environment(Invocation& invocation);

} // namespace cudaenv::cli
