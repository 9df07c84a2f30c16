#include "cli/command_line.hpp"

#include "base/text.hpp"
#include "protocol/build_id.hpp"
#include "protocol/json_field.hpp"

#include <algorithm>

namespace cudaenv::cli {

namespace {

struct GivenOption {
    OptionRow row;
    std::string_view value;
    int place = 0;
};

struct GivenArgument {
    std::string_view word;
    int place = 0;
};

// The words sorted by what they are. After an error it goes on with the words that follow, because
// --help and --json count wherever they stand.
struct Line {
    const CommandRow* command = nullptr;
    std::vector<OptionRow> known; // of the command; before it, of `cudaenv` alone
    std::vector<GivenOption> options;
    std::vector<GivenArgument> arguments;
    std::vector<const char*> command_words;
    std::optional<Error> error; // the first

    [[nodiscard]] bool has(std::string_view option) const {
        return std::ranges::any_of(
            options, [&](const GivenOption& given) { return given.row.name == option; });
    }
    [[nodiscard]] std::string name() const {
        return command == nullptr ? "cudaenv" : "cudaenv " + std::string(command->name);
    }
    void fail(int place, std::string code, std::string message, std::string hint) {
        if (!error) {
            error = at_argument(place, std::move(code), std::move(message), std::move(hint));
        }
    }
};

std::string in_quotes(std::string_view word) {
    return '"' + std::string(word) + '"';
}

// What would be right: the nearest known word, else `otherwise`.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         std::string otherwise) {
    const auto near = nearest(word, known);
    return near ? "did you mean " + in_quotes(*near) + '?' : std::move(otherwise);
}

void fail_unknown_option(Line& line, std::string_view word, int place) {
    const std::string_view name = word.substr(0, word.find('='));
    std::vector<std::string> known;
    for (const OptionRow& option : line.known) {
        if (!option.hidden) {
            known.push_back("--" + std::string(option.name));
        }
    }
    line.fail(place, "no-such-option", in_quotes(name) + " is not an option of " + line.name(),
              did_you_mean(name, known, line.name() + " --help lists them"));
}

// Whether the next word, if there is one, is the option's value. What looks like an option is not.
bool take_value(Line& line, const OptionRow& row, const char* next, int place) {
    const std::string_view value = next == nullptr ? "--" : next;
    if (value.size() > 1 && value.front() == '-') {
        const std::string name = "--" + std::string(row.name);
        line.fail(place, "no-value", name + " needs a value",
                  "expected " + name + ' ' + std::string(row.value));
        return false;
    }
    line.options.push_back({row, value, place});
    return true;
}

// --for, --for=build. Returns whether the next word was its value.
bool read_long(Line& line, std::string_view word, const char* next, int place) {
    const std::size_t equals = word.find('=');
    const auto row = std::ranges::find_if(line.known, [&](const OptionRow& option) {
        return option.is_named(word.substr(2, equals - 2));
    });
    if (row == line.known.end()) {
        fail_unknown_option(line, word, place);
        return false;
    }
    if (row->value.empty() && equals != std::string_view::npos) {
        line.fail(place, "no-value-wanted", "--" + std::string(row->name) + " takes no value", {});
        return false;
    }
    if (!row->value.empty() && equals == std::string_view::npos) {
        return take_value(line, *row, next, place);
    }
    line.options.push_back({*row, row->value.empty() ? "" : word.substr(equals + 1), place});
    return false;
}

// -q, -qv, -cDIR, -c DIR. Returns whether the next word was a value.
bool read_letters(Line& line, std::string_view word, const char* next, int place) {
    for (std::size_t i = 1; i < word.size(); ++i) {
        const auto row = std::ranges::find(line.known, word[i], &OptionRow::letter);
        if (row == line.known.end()) {
            fail_unknown_option(line, word, place);
            return false;
        }
        if (!row->value.empty() && i + 1 == word.size()) {
            return take_value(line, *row, next, place);
        }
        line.options.push_back({*row, row->value.empty() ? "" : word.substr(i + 1), place});
        if (!row->value.empty()) {
            return false;
        }
    }
    return false;
}

void read_command(Line& line, std::string_view word, int place) {
    line.command = find_command(word);
    if (line.command != nullptr) {
        line.known = options_of(*line.command);
        return;
    }
    std::vector<std::string> known;
    for (const CommandRow& command : commands()) {
        known.emplace_back(command.name);
    }
    line.fail(place, "no-such-command", in_quotes(word) + " is not a command",
              did_you_mean(word, known, "cudaenv --help lists them"));
}

Line read_line(std::span<const char* const> words) {
    Line line;
    line.known = options_of(default_command());
    line.known.push_back({.name = "version"});
    bool only_arguments = false;
    bool only_options = false; // the command is unknown, so other words have no meaning
    int place = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const char* const next = i + 1 < words.size() ? words[i + 1] : nullptr;
        ++place;
        const bool is_end = word == "--" && line.command != nullptr && !only_arguments;
        const bool is_option = word.size() > 1 && word.front() == '-' && !only_arguments;
        if (line.command != nullptr && line.command->arguments.is_command &&
            (is_end || !is_option)) {
            const auto rest = words.subspan(is_end ? i + 1 : i);
            line.command_words.assign(rest.begin(), rest.end());
            break;
        }
        if (is_end) {
            only_arguments = true;
        } else if (is_option) {
            const bool took_next = word.starts_with("--") ? read_long(line, word, next, place)
                                                          : read_letters(line, word, next, place);
            i += took_next ? 1 : 0;
            place += took_next ? 1 : 0;
        } else if (line.command != nullptr) {
            line.arguments.push_back({word, place});
        } else if (!only_options) {
            read_command(line, word, place);
            place = 0;
            only_options = line.command == nullptr;
        }
    }
    return line;
}

void check_choice(Line& line, hooks::Choices choices, const std::string& what,
                  std::string_view value, int place) {
    if (choices == nullptr) {
        return;
    }
    std::vector<std::string> known;
    for (const std::string_view choice : split(choices(), ' ')) {
        known.emplace_back(choice);
    }
    if (std::ranges::find(known, value) == known.end()) {
        line.fail(place, "bad-choice", in_quotes(value) + " is not a value of " + what,
                  did_you_mean(value, known, "expected " + listed(choices())));
    }
}

// Of two options that cannot be combined the second is at fault.
void check_together(Line& line) {
    for (const GivenOption& one : line.options) {
        const auto excluded = split(one.row.not_with, ' ');
        for (const GivenOption& other : line.options) {
            if (std::ranges::find(excluded, other.row.name) != excluded.end()) {
                line.fail(std::max(one.place, other.place), "not-together",
                          "--" + std::string(one.row.name) + " cannot be combined with --" +
                              std::string(other.row.name),
                          line.name() + " --help lists the options");
            }
        }
    }
}

void check_arguments(Line& line) {
    const ArgumentRow& wanted = line.command->arguments;
    const auto most = static_cast<std::size_t>(wanted.most);
    const std::string expected =
        "expected " + (wanted.help.empty() && wanted.choices != nullptr ? listed(wanted.choices())
                                                                        : std::string(wanted.help));
    const std::size_t count = wanted.is_command ? line.command_words.size() : line.arguments.size();
    if (count < static_cast<std::size_t>(wanted.least)) {
        line.fail(0, "no-argument", line.name() + " needs " + std::string(wanted.name), expected);
    }
    if (line.arguments.size() > most) {
        line.fail(line.arguments[most].place, "too-many-arguments",
                  "unexpected argument " + in_quotes(line.arguments[most].word),
                  line.name() +
                      (most == 0 ? " takes no arguments" : " --help shows what it takes"));
    }
    for (const GivenArgument& argument : line.arguments) {
        if (&argument == &line.arguments.front()) {
            check_choice(line, wanted.choices, line.name(), argument.word, argument.place);
        }
        if (argument.word.empty()) {
            line.fail(argument.place, "empty-argument", "an argument is empty", expected);
        }
    }
}

void put(const GivenOption& given, Invocation& invocation) {
    const std::string_view name = given.row.name;
    OutputWishes& output = invocation.output;
    if (name == "json") {
        output.json = true;
    } else if (name == "quiet") {
        output.quiet = true;
    } else if (name == "color") {
        output.colour = given.value == "always"  ? ColourWish::Always
                        : given.value == "never" ? ColourWish::Never
                                                 : ColourWish::Auto;
    } else if (name == "export") {
        invocation.export_file = given.value;
    } else {
        output.verbose = output.verbose || name == "verbose";
        std::string key(name);
        std::ranges::replace(key, '-', '_');
        nlohmann::json& value = invocation.params[key];
        if (given.row.value.empty()) {
            value = true;
        } else if (given.row.repeats) {
            value.push_back(given.value);
        } else {
            // The name of a file is bytes.
            value = given.row.is_path ? protocol::bytes_to_json(std::string(given.value))
                                      : nlohmann::json(given.value);
        }
    }
}

std::string padded(std::string_view text, std::size_t width) {
    std::string out(text);
    out.append(text.size() < width ? width - text.size() : 1, ' ');
    return out;
}

std::string left_side(const OptionRow& option) {
    std::string text = option.letter == 0 ? "    " : std::string("-") + option.letter + ", ";
    text += "--" + std::string(option.name);
    if (!option.value.empty()) {
        text += ' ' + std::string(option.value);
    }
    return text;
}

std::string usage_of(const CommandRow& command) {
    std::string usage = "cudaenv " + std::string(command.name);
    const ArgumentRow& arguments = command.arguments;
    if (arguments.is_command) {
        return usage + " [options] [--] " + std::string(arguments.name) + "...";
    }
    if (arguments.most > 0) {
        // Where the first has choices, those that follow are of another kind.
        const std::string dots = arguments.most == 1            ? ""
                                 : arguments.choices == nullptr ? "..."
                                                                : " ...";
        usage += arguments.least > 0 ? ' ' + std::string(arguments.name) + dots
                                     : " [" + std::string(arguments.name) + dots + ']';
    }
    return usage + " [options]";
}

std::string status_rows(std::span<const StatusRow> statuses) {
    std::string text;
    for (const StatusRow& row : statuses) {
        text += "  " + padded(row.status, 24) + std::string(row.help) + '\n';
    }
    return text;
}

std::string option_rows(std::span<const OptionRow> options) {
    std::string text;
    for (const OptionRow& option : options) {
        if (!option.hidden) {
            text += "  " + padded(left_side(option), 24) + std::string(option.help) +
                    (option.repeats ? " (repeatable)" : "") + '\n';
        }
    }
    return text;
}

} // namespace

Error at_argument(int place, std::string code, std::string message, std::string hint) {
    return bad_input(std::move(code), std::move(message), std::move(hint),
                     place > 0 ? "argument " + std::to_string(place) : std::string())
        .value();
}

ReportWishes report_wishes(std::span<const char* const> words) {
    const Line line = read_line(words);
    return {line.has("json"), line.command != nullptr && line.command->arguments.is_command};
}

Result<std::variant<Invocation, PrintedText>>
parse_command_line(std::span<const char* const> words) {
    Line line = read_line(words);
    if (line.has("help")) {
        const bool is_evaluated = line.has("shell");
        return PrintedText{line.command == nullptr ? general_help() : help_of(*line.command),
                           is_evaluated};
    }
    if (line.has("version")) {
        return PrintedText{"cudaenv " + std::string(protocol::build_id()) + '\n'};
    }
    Invocation invocation;
    invocation.alone = line.command == nullptr;
    if (invocation.alone && !line.error) {
        line.command = &default_command();
    }
    if (line.command != nullptr) {
        check_together(line);
        for (const GivenOption& given : line.options) {
            check_choice(line, given.row.choices, "--" + std::string(given.row.name), given.value,
                         given.place);
            put(given, invocation);
        }
        check_arguments(line);
    }
    if (line.error) {
        return tl::unexpected(*line.error);
    }
    invocation.command = line.command;
    invocation.command_words = std::move(line.command_words);
    for (const GivenArgument& argument : line.arguments) {
        invocation.params["arguments"].push_back(argument.word);
        invocation.params["places"].push_back(argument.place);
    }
    return invocation;
}

std::string general_help() {
    std::string text =
        "usage: cudaenv [command] [options]\n\n"
        "Find versions of CUDA, torch, cuDNN, nvcc and the compiler that work together on\n"
        "this machine, and set up shells and environments for them.\n"
        "\ncommands\n";
    for (const CommandRow& command : commands()) {
        text += "  " + padded(command.name, 13) + std::string(command.summary) + '\n';
    }
    return text + "\noptions of every command\n" + option_rows(common_options()) + "  " +
           padded("    --version", 24) +
           "show version and build\n"
           "\nexit status (`run` returns that of its command)\n" +
           status_rows(common_statuses()) +
           "\nexample\n  cudaenv resolve torch torchvision --cuda 11.3 --python 3.9\n"
           "\nFor more about a command: cudaenv COMMAND --help\n";
}

std::string help_of(const CommandRow& command) {
    std::string text = "usage: " + usage_of(command) + "\n\n" + std::string(command.summary) + '\n';
    const ArgumentRow& arguments = command.arguments;
    if (arguments.most > 0) {
        text +=
            "\n  " + padded(arguments.name, 24) +
            (arguments.help.empty() ? listed(arguments.choices()) : std::string(arguments.help)) +
            '\n';
    }
    text += "\noptions\n" + option_rows(options_of(command));
    if (!command.statuses.empty()) {
        text += "\nexit status\n" + status_rows(command.statuses);
    }
    const auto examples = split(command.examples, '\n');
    text += examples.size() > 1 ? "\nexamples\n" : "\nexample\n";
    for (const std::string_view example : examples) {
        text += "  " + std::string(example) + '\n';
    }
    return text;
}

std::string completions_for(const hooks::Shell& shell) {
    std::vector<hooks::CompletedCommand> completed;
    for (const CommandRow& command : commands()) {
        std::vector<OptionRow> options = options_of(command);
        std::erase_if(options, [](const OptionRow& option) { return option.hidden; });
        completed.push_back({command.name, command.summary, command.arguments, std::move(options),
                             common_options().size()});
    }
    return shell.completions(completed);
}

std::string listed(std::string_view words) {
    std::string text;
    const auto all = split(words, ' ');
    for (std::size_t i = 0; i < all.size(); ++i) {
        text += i == 0 ? "" : i + 1 == all.size() ? " or " : ", ";
        text += all[i];
    }
    return text;
}

} // namespace cudaenv::cli
