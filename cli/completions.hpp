// Completion scripts, made from the command table. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cudaenv::cli {

// For bash, zsh, fish, tcsh; empty for any other shell.
std::string completions_for(std::string_view shell);

} // namespace cudaenv::cli
