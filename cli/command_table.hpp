// The command line as data: every command that exists and the options it takes. The parser, the
// help and the completions are all made from this one table, so that they cannot say different
// things.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

enum class Repeat { No, Yes };
enum class Offered { Yes, No }; // No: understood, but in neither help nor completions

struct OptionRow {
    char letter = 0;                                // 'p' of -p; 0 = none
    std::string_view name;                          // "prefix" of --prefix
    std::string_view value;                         // "PREFIX"; empty for a flag
    std::string_view help;                          // one line
    std::span<const std::string_view> choices = {}; // all that the value may be; empty = anything
    Repeat repeat = Repeat::No;
    Offered offered = Offered::Yes;
    bool file = false; // the value is a file or directory
    // Options of the same command that make no sense beside it.
    std::span<const std::string_view> not_with = {};
};

struct ArgumentRow {
    std::string_view name; // "SPEC"
    int least = 0;
    int most = 0; // k_any_number = as many as there are
    std::string_view help;
    std::span<const std::string_view> choices = {}; // for the first argument
    // Another program's command line: from the first word that is no option on nothing is parsed.
    bool is_command = false;
};
constexpr int k_any_number = 1'000'000;

// "0", "ok, or with warnings": what an exit status of the command means.
struct StatusRow {
    std::string_view status;
    std::string_view help;
};

struct CommandRow {
    std::string_view name;    // "resolve"
    std::string_view method;  // the daemon's; empty: the client answers by itself
    std::string_view summary; // one line, no full stop
    ArgumentRow arguments;
    std::span<const OptionRow> options; // beside common_options()
    bool reads_host = false;            // takes host_options()
    std::span<const std::string_view> examples;
    std::span<const StatusRow> statuses = {}; // where they say more than those of every command
};

std::span<const StatusRow> common_statuses(); // of every command
std::span<const CommandRow> commands();       // in the order of the help
const CommandRow* find_command(std::string_view name);
// `cudaenv` alone.
const CommandRow& default_command();

std::span<const OptionRow> common_options(); // of every command
std::span<const OptionRow> host_options();   // which machine is meant
// All that `command` takes: its own, then the host's, then the common ones.
std::vector<OptionRow> options_of(const CommandRow& command);

} // namespace cudaenv::cli
