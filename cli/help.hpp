// Help texts, made from the command table. Pure.
#pragma once

#include "cli/command_table.hpp"

#include <string>

namespace cudaenv::cli {

std::string general_help();
std::string help_of(const CommandRow& command);

} // namespace cudaenv::cli
