#include "cli/help.hpp"

#include <algorithm>

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
    if (arguments.most > 0 && arguments.choices.empty()) {
        const std::string dots = arguments.most > 1 ? "..." : "";
        usage += arguments.least > 0 ? ' ' + std::string(arguments.name) + dots
                                     : " [" + std::string(arguments.name) + dots + ']';
    } else if (arguments.most > 0) {
        usage += ' ' + std::string(arguments.name);
        usage += arguments.most > 1 ? " ..." : "";
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

} // namespace

std::string general_help() {
    std::string text = "usage: cudaenv [command] [options]\n\n"
                       "Which CUDA, torch, cuDNN, nvcc and compiler fit together on this machine.\n"
                       "\ncommands\n";
    for (const CommandRow& command : commands()) {
        text += "  " + padded(command.name, 13) + std::string(command.summary) + '\n';
    }
    text += "\noptions of every command\n";
    for (const OptionRow& option : common_options()) {
        text += "  " + padded(left_side(option), 24) + std::string(option.help) + '\n';
    }
    text += "  " + padded("    --version", 24) + "the version and the build\n";
    text += "\nexit status (that of `run` is its command's)\n" + status_rows(common_statuses());
    text += "\nexample\n  cudaenv resolve torch torchvision --cuda 11.3 --python 3.9\n"
            "\nSee cudaenv COMMAND --help.\n";
    return text;
}

std::string help_of(const CommandRow& command) {
    std::string text = "usage: " + usage_of(command) + "\n\n" + std::string(command.summary) + '\n';
    if (command.arguments.most > 0) {
        text += "\n  " + padded(command.arguments.name, 24) + std::string(command.arguments.help) +
                '\n';
    }
    text += "\noptions\n";
    for (const OptionRow& option : options_of(command)) {
        if (option.offered == Offered::Yes) {
            text += "  " + padded(left_side(option), 24) + std::string(option.help) + '\n';
        }
    }
    if (!command.statuses.empty()) {
        text += "\nexit status\n" + status_rows(command.statuses);
    }
    text += command.examples.size() > 1 ? "\nexamples\n" : "\nexample\n";
    for (const std::string_view example : command.examples) {
        text += "  " + std::string(example) + '\n';
    }
    return text;
}

} // namespace cudaenv::cli
