#include "cli/usage_error.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace cudaenv::cli {

namespace {

using Words = std::span<const char* const>;

enum class WordKind { Argument, Option, Unknown, NoValue };

// One step over a command line: a word, its kind, and whether the next word is its value.
struct Step {
    WordKind kind = WordKind::Argument;
    const OptionRow* option = nullptr;
    std::string_view value_here; // the value within the word itself: --for=build, -cDIR
    bool takes_next = false;
};

const OptionRow* by_name(std::span<const OptionRow> options, std::string_view name) {
    const auto found = std::ranges::find(options, name, &OptionRow::name);
    return found == options.end() ? nullptr : &*found;
}

const OptionRow* by_letter(std::span<const OptionRow> options, char letter) {
    const auto found = std::ranges::find(options, letter, &OptionRow::letter);
    return found == options.end() ? nullptr : &*found;
}

Step look(std::span<const OptionRow> options, std::string_view word, bool is_last) {
    if (word.size() < 2 || word.front() != '-') {
        return {};
    }
    if (word.starts_with("--")) {
        const std::size_t equals = word.find('=');
        const OptionRow* option = by_name(options, word.substr(2, equals - 2));
        if (option == nullptr) {
            return {WordKind::Unknown, nullptr, {}, false};
        }
        if (option->value.empty() || equals != std::string_view::npos) {
            return {WordKind::Option, option, {}, false};
        }
        return {is_last ? WordKind::NoValue : WordKind::Option, option, {}, true};
    }
    for (std::size_t i = 1; i < word.size(); ++i) { // -qv, -cDIR
        const OptionRow* option = by_letter(options, word[i]);
        if (option == nullptr) {
            return {WordKind::Unknown, nullptr, {}, false};
        }
        if (!option->value.empty()) {
            const bool takes_next = i + 1 == word.size();
            return {takes_next && is_last ? WordKind::NoValue : WordKind::Option, option,
                    word.substr(i + 1), takes_next};
        }
    }
    return {WordKind::Option, by_letter(options, word[1]), {}, false};
}

Error no_value(const OptionRow& option, int place) {
    const std::string name = "--" + std::string(option.name);
    return at_argument(place, "no-value", name + " needs a value",
                       "expected " + name + ' ' + std::string(option.value));
}

Error unknown_option(std::span<const OptionRow> options, std::string_view word, int place,
                     const std::string& of) {
    const std::string_view name = word.substr(0, word.find('='));
    std::vector<std::string> known;
    for (const OptionRow& option : options) {
        if (option.offered == Offered::Yes) {
            known.push_back("--" + std::string(option.name));
        }
    }
    const auto near = nearest(name, known);
    return at_argument(place, "no-such-option",
                       '"' + std::string(name) + "\" is not an option of " + of,
                       near ? "did you mean \"" + *near + "\"?" : of + " --help lists them");
}

std::string join_choices(std::span<const std::string_view> choices) {
    std::string text;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        text += i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
        text += choices[i];
    }
    return text;
}

Error bad_choice(std::span<const std::string_view> choices, std::string_view what,
                 std::string_view value, int place) {
    const std::vector<std::string> known(choices.begin(), choices.end());
    const auto near = nearest(value, known);
    return at_argument(
        place, "bad-choice", '"' + std::string(value) + "\" is not a value of " + std::string(what),
        near ? "did you mean \"" + *near + "\"?" : "expected " + join_choices(choices));
}

} // namespace

Error at_argument(int place, std::string code, std::string message, std::string hint) {
    return {ErrorKind::BadInput,
            std::move(code),
            std::move(message),
            place > 0 ? "argument " + std::to_string(place) : std::string(),
            0,
            0,
            std::move(hint)};
}

int place_of_option(const OptionRow& option, Words words) {
    const OptionRow only[] = {option};
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "--") {
            break;
        }
        const bool is_letter = option.letter != 0 && word.size() > 1 && word[0] == '-' &&
                               word[1] != '-' && word.find(option.letter) != std::string_view::npos;
        if (is_letter || look(only, word, false).option != nullptr) {
            return static_cast<int>(i) + 1;
        }
    }
    return 0;
}

Result<std::optional<std::size_t>> command_word(Words words) {
    // Before the command is known, an option of any command might follow: only the default
    // command's are understood there.
    const auto options = options_of(default_command());
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "--version") {
            return std::optional<std::size_t>();
        }
        const int place = static_cast<int>(i) + 1;
        const Step step = look(options, word, i + 1 == words.size());
        switch (step.kind) {
        case WordKind::Unknown:
            return tl::unexpected(unknown_option(options, word, place, "cudaenv"));
        case WordKind::NoValue:
            return tl::unexpected(no_value(*step.option, place));
        case WordKind::Option:
            i += step.takes_next ? 1 : 0;
            break;
        case WordKind::Argument:
            if (find_command(word) != nullptr) {
                return std::optional(i);
            }
            std::vector<std::string> known;
            for (const CommandRow& command : commands()) {
                known.emplace_back(command.name);
            }
            const auto near = nearest(word, known);
            return tl::unexpected(at_argument(
                place, "no-such-command", '"' + std::string(word) + "\" is not a command",
                near ? "did you mean \"" + *near + "\"?" : "cudaenv --help lists them"));
        }
    }
    return std::optional<std::size_t>();
}

Result<void> check_options(const CommandRow& command, Words words) {
    const auto options = options_of(command);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "--") {
            break;
        }
        const int place = static_cast<int>(i) + 1;
        const Step step = look(options, word, i + 1 == words.size());
        if (step.kind == WordKind::Unknown) {
            return tl::unexpected(
                unknown_option(options, word, place, "cudaenv " + std::string(command.name)));
        }
        if (step.kind == WordKind::NoValue) {
            return tl::unexpected(no_value(*step.option, place));
        }
        if (step.kind == WordKind::Option && step.option->value.empty() &&
            word.find('=') != std::string_view::npos) {
            return tl::unexpected(
                at_argument(place, "no-value-wanted",
                            "--" + std::string(step.option->name) + " takes no value", {}));
        }
        if (step.takes_next) {
            // CLI11 takes a word that is an option for an option, not for a value.
            const std::string_view next = words[i + 1];
            if (next.size() > 1 && next.front() == '-') {
                return tl::unexpected(no_value(*step.option, place));
            }
            ++i;
        }
    }
    return {};
}

std::size_t options_end(const CommandRow& command, Words words) {
    if (!command.arguments.is_command) {
        return words.size();
    }
    const auto options = options_of(command);
    std::size_t i = 0;
    while (i < words.size() && std::string_view(words[i]) != "--") {
        const Step step = look(options, words[i], i + 1 == words.size());
        if (step.kind == WordKind::Argument) {
            break;
        }
        i += step.takes_next && i + 1 < words.size() ? 2 : 1;
    }
    return i;
}

Result<void> check_choice(const OptionRow& option, const std::string& value, Words words) {
    if (option.choices.empty() ||
        std::ranges::find(option.choices, value) != option.choices.end()) {
        return {};
    }
    return tl::unexpected(bad_choice(option.choices, "--" + std::string(option.name), value,
                                     place_of_option(option, words)));
}

Result<std::vector<int>> check_arguments(const CommandRow& command, Words words,
                                         const std::vector<std::string>& arguments) {
    const auto options = options_of(command);
    std::vector<int> places;
    bool only_arguments = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (!only_arguments && word == "--") {
            only_arguments = true;
            continue;
        }
        const Step step = only_arguments ? Step{} : look(options, word, i + 1 == words.size());
        if (step.kind == WordKind::Argument) {
            places.push_back(static_cast<int>(i) + 1);
        }
        i += step.takes_next ? 1 : 0;
    }
    const std::string name = "cudaenv " + std::string(command.name);
    const ArgumentRow& wanted = command.arguments;
    if (arguments.size() > static_cast<std::size_t>(wanted.most)) {
        const std::string& extra = arguments[static_cast<std::size_t>(wanted.most)];
        const int place = static_cast<std::size_t>(wanted.most) < places.size()
                              ? places[static_cast<std::size_t>(wanted.most)]
                              : 0;
        return tl::unexpected(
            at_argument(place, "too-many-arguments", '"' + extra + "\" is an argument too many",
                        name + (wanted.most == 0 ? " takes none" : " --help tells what it takes")));
    }
    if (arguments.size() < static_cast<std::size_t>(wanted.least)) {
        return bad_input("no-argument", name + " needs " + std::string(wanted.name),
                         "expected " + std::string(wanted.help));
    }
    if (!arguments.empty() && !wanted.choices.empty() &&
        std::ranges::find(wanted.choices, arguments.front()) == wanted.choices.end()) {
        return tl::unexpected(bad_choice(wanted.choices, name, arguments.front(),
                                         places.empty() ? 0 : places.front()));
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].empty()) {
            return tl::unexpected(at_argument(i < places.size() ? places[i] : 0, "empty-argument",
                                              "an argument is empty",
                                              "expected " + std::string(wanted.help)));
        }
    }
    return places;
}

} // namespace cudaenv::cli
