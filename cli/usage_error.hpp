// What is wrong with a command line: finding the word at fault, which a parser that only says "bad"
// does not. Pure.
#pragma once

#include "base/result.hpp"
#include "cli/command_table.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::cli {

// Index of the command among `words`; none where there is no command.
// Errors: "no-such-command", "no-such-option", "no-value".
Result<std::optional<std::size_t>> command_word(std::span<const char* const> words);

// The first of `words` (those after the command) that is no option of `command`, or an option
// without its value or with one that it does not take.
Result<void> check_options(const CommandRow& command, std::span<const char* const> words);

// Index in `words` (those after the command) of the first that belongs to the command line that
// `command` takes as its argument, a `--` before it included; their number where it takes none.
std::size_t options_end(const CommandRow& command, std::span<const char* const> words);

// Error "bad-choice" where `value` is none of the option's choices.
Result<void> check_choice(const OptionRow& option, const std::string& value,
                          std::span<const char* const> words);

// The number of each argument among `words`, or what is wrong with their count or the first one.
Result<std::vector<int>> check_arguments(const CommandRow& command,
                                         std::span<const char* const> words,
                                         const std::vector<std::string>& arguments);

// 1-based number of the word that gives `option`; 0 where none does.
int place_of_option(const OptionRow& option, std::span<const char* const> words);
// Bad input with "argument N" as its place; 0 = no place.
Error at_argument(int place, std::string code, std::string message, std::string hint);

} // namespace cudaenv::cli
