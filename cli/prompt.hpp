// `cudaenv prompt SHELL`: what the shells' hooks call. It does not use the argument parser, because
// a person is waiting for the prompt.
#pragma once

#include "base/result.hpp"

#include <span>
#include <string_view>

namespace cudaenv::cli {

constexpr std::string_view k_prompt_command = "prompt";

// `words` after "prompt". Prints the text that the shell evaluates; exit status 0. Waits at most 2
// s for an answer (5 s in a script), or until an interrupt; without an answer the text removes what
// was active for another environment. With --take-back-first that text, if any, is printed at once
// with status 4, and the shell then asks again. With any other status standard output is empty.
// `limits`: of take_descriptors; if it failed there is no answer.
int run_prompt(std::span<const char* const> words, const Result<void>& limits);

} // namespace cudaenv::cli
