// `cudaenv prompt SHELL`: what the shells' hooks call. Off the argument parser, because it runs
// while somebody waits for a prompt.
#pragma once

#include <span>
#include <string_view>

namespace cudaenv::cli {

constexpr std::string_view k_prompt_command = "prompt";

// `words` after "prompt". Prints the text that the shell evaluates; exit status 0, or not 0 with
// nothing on standard output: then the shell is to change nothing. Takes at most 50 ms.
int run_prompt(std::span<const char* const> words);

} // namespace cudaenv::cli
