#include "cli/command_line.hpp"

#include "base/text.hpp"
#include "cli/help.hpp"
#include "cli/usage_error.hpp"
#include "protocol/build_id.hpp"
#include "protocol/json_field.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace cudaenv::cli {

namespace {

using Words = std::span<const char* const>;

// A value for CLI11 to fill, per option of the command.
struct Slot {
    OptionRow row;
    bool flag = false;
    std::vector<std::string> values;
};

bool is_given(const Slot& slot) {
    return slot.flag || !slot.values.empty();
}

// "--for" and "-c" as CLI11 wants its names: "-c,--channel".
std::string names_of(const OptionRow& row) {
    std::string names = row.letter == 0 ? "" : std::string("-") + row.letter + ',';
    return names + "--" + std::string(row.name);
}

std::string key_of(std::string_view option) {
    std::string key(option);
    std::ranges::replace(key, '-', '_');
    return key;
}

// Puts what was given into the invocation, or says which value is none.
Result<void> take(const Slot& slot, Words words, Invocation& invocation) {
    if (!is_given(slot)) {
        return {};
    }
    for (const std::string& value : slot.values) {
        CUDAENV_TRY_VOID(check_choice(slot.row, value, words));
    }
    const std::string_view name = slot.row.name;
    if (name == "json") {
        invocation.output.json = true;
    } else if (name == "quiet") {
        invocation.output.quiet = true;
    } else if (name == "verbose") {
        invocation.output.verbose = true;
        invocation.params["verbose"] = true;
    } else if (name == "color") {
        const std::string& when = slot.values.back();
        invocation.output.colour = when == "always"  ? ColourWish::Always
                                   : when == "never" ? ColourWish::Never
                                                     : ColourWish::Auto;
    } else if (name == "export") {
        invocation.export_file = slot.values.back();
    } else if (name == "index") {
        return tl::unexpected(
            at_argument(place_of_option(slot.row, words), "not-yet", "--index is not there yet",
                        "packages of pip are answered from the built-in catalogue"));
    } else if (slot.flag) {
        invocation.params[key_of(name)] = true;
    } else if (slot.row.repeat == Repeat::Yes) {
        invocation.params[key_of(name)] = slot.values;
    } else {
        // The name of a file is bytes.
        invocation.params[key_of(name)] = slot.row.file
                                              ? protocol::bytes_to_json(slot.values.back())
                                              : nlohmann::json(slot.values.back());
    }
    return {};
}

// Of two options that make no sense together the second is at fault.
Result<void> check_together(std::string_view name, std::span<const Slot> slots, Words words) {
    for (const Slot& slot : slots) {
        for (const Slot& other : slots) {
            if (is_given(slot) && is_given(other) &&
                std::ranges::find(slot.row.not_with, other.row.name) != slot.row.not_with.end()) {
                const std::string one = "--" + std::string(slot.row.name);
                const std::string two = "--" + std::string(other.row.name);
                return tl::unexpected(at_argument(
                    std::max(place_of_option(slot.row, words), place_of_option(other.row, words)),
                    "not-together", one + " cannot be combined with " + two,
                    "cudaenv " + std::string(name) + " --help tells what each does"));
            }
        }
    }
    return {};
}

Result<Invocation> parse_with_cli11(const CommandRow& command, Words words) {
    CUDAENV_TRY_VOID(check_options(command, words)); // says which word is wrong; CLI11 does not
    std::vector<Slot> slots;
    for (const OptionRow& row : options_of(command)) {
        if (row.name != "help") {
            slots.push_back({row, false, {}});
        }
    }
    std::vector<std::string> arguments;
    CLI::App app;
    app.set_help_flag(); // ours: it must come before any complaint
    for (Slot& slot : slots) {
        if (slot.row.value.empty()) {
            app.add_flag(names_of(slot.row), slot.flag);
        } else {
            CLI::Option* option = app.add_option(names_of(slot.row), slot.values);
            option->allow_extra_args(false); // one value each time it is given
        }
    }
    app.add_option("arguments", arguments)->expected(0, k_any_number);
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    try {
        app.parse(reversed);
    } catch (const CLI::ParseError& problem) {
        return bad_input("usage", problem.what(),
                         "cudaenv " + std::string(command.name) + " --help tells what it takes");
    }
    Invocation invocation;
    invocation.command = &command;
    CUDAENV_TRY_VOID(check_together(command.name, slots, words));
    for (const Slot& slot : slots) {
        CUDAENV_TRY_VOID(take(slot, words, invocation));
    }
    if (command.arguments.is_command) {
        return invocation; // `words` are its options alone
    }
    CUDAENV_TRY(auto places, check_arguments(command, words, arguments));
    if (!arguments.empty()) {
        invocation.params["arguments"] = arguments;
        invocation.params["places"] = places;
    }
    return invocation;
}

bool given(Words words, std::string_view option, std::string_view letter) {
    for (const std::string_view word : words) {
        if (word == "--") {
            return false;
        }
        if (word == option || (!letter.empty() && word == letter)) {
            return true;
        }
    }
    return false;
}

// The command line that is `command`'s argument, without the `--` before it.
Result<std::vector<const char*>> words_of_command(const CommandRow& command, Words words) {
    if (!words.empty() && std::string_view(words.front()) == "--") {
        words = words.subspan(1);
    }
    if (words.empty()) {
        const std::string name(command.name);
        return bad_input("no-argument",
                         "cudaenv " + name + " needs " + std::string(command.arguments.name),
                         "expected " + std::string(command.arguments.help));
    }
    return std::vector<const char*>(words.begin(), words.end());
}

} // namespace

bool asks_for_json(Words words) {
    // Not what is in another program's command line.
    const auto at = command_word(words);
    if (at && *at) {
        const Words after = words.subspan(**at + 1);
        const CommandRow& command = *find_command(words[**at]);
        words = words.first(words.size() - after.size() + options_end(command, after));
    }
    return given(words, "--json", {});
}

Result<std::variant<Invocation, PrintedText>> parse_command_line(Words words) {
    CUDAENV_TRY(const auto at, command_word(words));
    const bool alone = !at.has_value();
    const CommandRow& command =
        alone ? default_command() : *find_command(words[*at]); // command_word knows it
    const Words after = at ? words.subspan(*at + 1) : Words();
    const std::size_t end = options_end(command, after);
    const Words own = words.first(words.size() - after.size() + end);
    if (given(own, "--help", "-h")) {
        return PrintedText{alone ? general_help() : help_of(command),
                           command.name == "use" && given(own, "--shell", {})};
    }
    if (alone && given(words, "--version", {})) {
        return PrintedText{"cudaenv " + std::string(protocol::build_id()) + '\n'};
    }
    // Options may stand before the command: they are numbered after all that follows it.
    std::vector<const char*> rest;
    if (at) {
        rest.assign(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(end));
        const auto before = words.first(*at);
        rest.insert(std::ranges::find(rest, std::string_view("--")), before.begin(), before.end());
    } else {
        rest.assign(words.begin(), words.end());
    }
    CUDAENV_TRY(auto invocation, parse_with_cli11(command, rest));
    if (command.arguments.is_command) {
        CUDAENV_TRY(invocation.command_words, words_of_command(command, after.subspan(end)));
    }
    invocation.alone = alone;
    return invocation;
}

} // namespace cudaenv::cli
