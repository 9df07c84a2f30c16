// `cudaenv prompt SHELL`: what the shells' hooks call. Off the argument parser, because it runs
// while somebody waits for a prompt.
#pragma once

#include "base/result.hpp"

#include <span>
#include <string_view>

namespace cudaenv::cli {

constexpr std::string_view k_prompt_command = "prompt";

// `words` after "prompt". Prints the text that the shell evaluates; exit status 0. Waits at most 2
// s for an answer (5 s in a script), until an interrupt ends it; without one the text takes back
// what was active for another environment. With --take-back-first that text comes at once, where
// there is something to take back, with status 4: then the shell is to ask again. Any other status
// comes with nothing on standard output. `limits`: of take_descriptors; with what it lacks there is
// no answer.
int run_prompt(std::span<const char* const> words, const Result<void>& limits);

} // namespace cudaenv::cli
