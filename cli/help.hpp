// Texts made from the command table: help and completions. Pure.
#pragma once

#include "cli/command_table.hpp"
#include "shellhooks/hooks/shell.hpp"

#include <string>
#include <string_view>

namespace cudaenv::cli {

std::string general_help();
std::string help_of(const CommandRow& command);
// Only for a shell that has completions.
std::string completions_for(const hooks::Shell& shell);
// "a, b or c" of "a b c".
std::string listed(std::string_view words);

} // namespace cudaenv::cli
