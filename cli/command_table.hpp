// The commands of cudaenv: one row each. The parser, the help and the completions are made from
// this table, so they cannot disagree.
#pragma once

#include "base/result.hpp"
#include "shellhooks/hooks/completion.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

using hooks::ArgumentRow;
using hooks::k_any_number;
using hooks::OptionRow;

struct Invocation;
// Asks the daemon and shows its answer: what a command does unless its row says otherwise.
Result<int> ask_and_show(Invocation& invocation);

struct StatusRow {
    std::string_view status; // "0"
    std::string_view help;
};

struct CommandRow {
    std::string_view name;    // "resolve"
    std::string_view summary; // one line, no full stop
    ArgumentRow arguments{};
    std::span<const OptionRow> options{}; // besides common_options()
    bool reads_host = false;              // takes host_options()
    std::string_view method{};            // the daemon's, for ask_and_show
    Result<int> (*run)(Invocation&) = ask_and_show;
    std::string_view examples{};              // one a line
    std::span<const StatusRow> statuses = {}; // where they say more than common_statuses()
};

std::span<const StatusRow> common_statuses();
std::span<const CommandRow> commands(); // in the order of the help
const CommandRow* find_command(std::string_view name);
// `cudaenv` alone.
const CommandRow& default_command();

std::span<const OptionRow> common_options(); // of every command
// Its own options, then those that choose a machine, then the common ones.
std::vector<OptionRow> options_of(const CommandRow& command);

} // namespace cudaenv::cli
