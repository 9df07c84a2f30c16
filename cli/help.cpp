#include "cli/help.hpp"

#include "base/text.hpp"

namespace cudaenv::cli {

namespace {

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
