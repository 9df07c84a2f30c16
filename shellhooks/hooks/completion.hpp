// A command line as its help, its parser and each shell's completions read it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::hooks {

// The words that a value may be, between blanks. A function, because some lists are made from
// another table. nullptr: anything.
using Choices = std::string_view (*)();

struct OptionRow {
    char letter = 0;          // 'p' of -p; 0: none
    std::string_view name;    // "prefix" of --prefix
    std::string_view value{}; // "PREFIX"; empty for a flag
    std::string_view help{};  // one line
    Choices choices = nullptr;
    bool repeats = false; // the value is a list
    bool hidden = false;  // understood, but in neither help nor completions
    bool is_path = false; // the value names a file or directory
    // Names of options, between blanks, that cannot be combined with this one.
    std::string_view not_with{};
    // Other names that are understood, between blanks: pip's for the same thing.
    std::string_view also{};

    [[nodiscard]] bool is_named(std::string_view word) const;
};

struct ArgumentRow {
    std::string_view name{}; // "SPEC"
    int least = 0;
    int most = 0;
    std::string_view help{};
    Choices choices = nullptr; // of the first argument
    // Another program's command line: nothing is parsed from the first word on that is no option.
    bool is_command = false;
};
constexpr int k_any_number = 1'000'000;

struct CompletedCommand {
    std::string_view name;
    std::string_view summary;
    ArgumentRow arguments;
    std::vector<OptionRow> options; // none hidden; those of every command are the last `common`
    std::size_t common = 0;
};

// Every option of any command, once, by name.
std::vector<OptionRow> distinct_options(std::span<const CompletedCommand> commands);
std::string names_of(std::span<const CompletedCommand> commands, char separator);

} // namespace cudaenv::hooks
