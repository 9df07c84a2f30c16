// From argv to what is meant. Pure: no file, no environment.
//
// Law: either an Invocation that is whole and valid as far as the table knows, a text to print
// (help, version), or one Error that names the argument and says what would be right. Arguments are
// numbered from 1, from the first word after the command (before it, after `cudaenv`).
#pragma once

#include "base/result.hpp"
#include "cli/command_table.hpp"
#include "shellhooks/hooks/shell.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cudaenv::cli {

enum class ColourWish { Auto, Always, Never };

struct OutputWishes {
    bool json = false;
    bool quiet = false;
    bool verbose = false;
    ColourWish colour = ColourWish::Auto;
};

struct Invocation {
    const CommandRow* command = nullptr;
    bool alone = false; // `cudaenv` without a command
    // For the daemon: options by their names, '_' for '-' (flags true, repeatable ones as lists),
    // and `arguments` with `places`, the number of each. Options not given are absent.
    nlohmann::json params = nlohmann::json::object();
    OutputWishes output;
    std::string export_file; // host --export
    // Of a command whose argument is a command line: that, as it was given.
    std::vector<const char*> command_words;
};

struct PrintedText {
    std::string text;
    bool for_person = false; // standard output is for a hook, which would evaluate it
};

Result<std::variant<Invocation, PrintedText>>
parse_command_line(std::span<const char* const> words);

// How a failure is reported, also of a command line that is wrong.
struct ReportWishes {
    bool json = false;
    // The statuses are those of another program: a failure of ours has its own.
    bool runs_command = false;
};
ReportWishes report_wishes(std::span<const char* const> words);

// Bad input with "argument N" as its place; 0: no place.
Error at_argument(int place, std::string code, std::string message, std::string hint);

// Texts made from the command table: help and completions. Pure.

std::string general_help();
std::string help_of(const CommandRow& command);
// Only for a shell that has completions.
std::string completions_for(const hooks::Shell& shell);
// "a, b or c" of "a b c".
std::string listed(std::string_view words);

} // namespace cudaenv::cli
