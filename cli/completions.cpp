#include "cli/completions.hpp"

#include "cli/command_table.hpp"
#include "shellhooks/quote.hpp"

#include <set>
#include <span>
#include <vector>

namespace cudaenv::cli {

namespace {

using shellhooks::quote_word;
using shellhooks::Shell;

std::string words_of(std::span<const std::string_view> words) {
    std::string text;
    for (const std::string_view word : words) {
        text += (text.empty() ? "" : " ") + std::string(word);
    }
    return text;
}

std::string command_words(std::string_view separator = " ") {
    std::string text;
    for (const CommandRow& command : commands()) {
        text += (text.empty() ? "" : std::string(separator)) + std::string(command.name);
    }
    return text;
}

std::vector<OptionRow> offered_options(const CommandRow& command) {
    std::vector<OptionRow> rows = options_of(command);
    std::erase_if(rows, [](const OptionRow& row) { return row.offered == Offered::No; });
    return rows;
}

// Every option of any command, once, by name.
std::vector<OptionRow> all_options() {
    std::vector<OptionRow> rows;
    std::set<std::string_view> seen;
    for (const CommandRow& command : commands()) {
        for (const OptionRow& row : offered_options(command)) {
            if (seen.insert(row.name).second) {
                rows.push_back(row);
            }
        }
    }
    return rows;
}

// "--channel|-c"
std::string pattern_of(const OptionRow& row) {
    return "--" + std::string(row.name) + (row.letter == 0 ? "" : std::string("|-") + row.letter);
}

std::string bash() {
    std::string text = "# bash completion for cudaenv\n"
                       "_cudaenv() {\n"
                       "    local current=\"${COMP_WORDS[COMP_CWORD]}\"\n"
                       "    local previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
                       "    local command=\"\" words=\"\" i\n"
                       "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                       "        case \"${COMP_WORDS[i]}\" in\n"
                       "        " +
                       command_words("|") +
                       ")\n"
                       "            command=\"${COMP_WORDS[i]}\"\n"
                       "            break ;;\n"
                       "        esac\n"
                       "    done\n"
                       "    case \"$previous\" in\n";
    for (const OptionRow& row : all_options()) {
        if (row.file) {
            text += "    " + pattern_of(row) +
                    ")\n        compopt -o filenames\n"
                    "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
                    "        return ;;\n";
        } else if (!row.choices.empty()) {
            text += "    " + pattern_of(row) + ")\n        mapfile -t COMPREPLY < <(compgen -W \"" +
                    words_of(row.choices) + "\" -- \"$current\")\n        return ;;\n";
        } else if (!row.value.empty()) {
            text += "    " + pattern_of(row) + ")\n        return ;;\n";
        }
    }
    text += "    esac\n    case \"$command\" in\n";
    for (const CommandRow& command : commands()) {
        if (command.arguments.is_command) {
            text += "    " + std::string(command.name) +
                    ")\n        if [[ $current != -* ]]; then\n"
                    "            mapfile -t COMPREPLY < <(compgen -c -- \"$current\")\n"
                    "            return\n        fi ;;&\n";
        }
        std::string words = words_of(command.arguments.choices);
        for (const OptionRow& row : offered_options(command)) {
            words += (words.empty() ? "--" : " --") + std::string(row.name);
        }
        text += "    " + std::string(command.name) + ") words=\"" + words + "\" ;;\n";
    }
    text += "    *) words=\"" + command_words() + " --version";
    for (const OptionRow& row : common_options()) {
        text += " --" + std::string(row.name);
    }
    text += "\" ;;\n    esac\n"
            "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
            "}\n"
            "complete -F _cudaenv cudaenv\n";
    return text;
}

// One specification of zsh's _arguments.
std::string zsh_option(const OptionRow& row) {
    std::string help;
    for (const char c : row.help) {
        if (c == '[' || c == ']' || c == '\\') {
            help += '\\';
        }
        help += c;
    }
    std::string tail = '[' + help + ']';
    if (!row.value.empty()) {
        tail += ':' + std::string(row.value) + ':';
        tail += row.file ? "_files" : row.choices.empty() ? " " : '(' + words_of(row.choices) + ')';
    }
    const std::string star = row.repeat == Repeat::Yes ? "*" : "";
    std::string text = ' ' + quote_word(Shell::Posix, star + "--" + std::string(row.name) + tail);
    if (row.letter != 0) {
        text += ' ' + quote_word(Shell::Posix, star + '-' + row.letter + tail);
    }
    return text;
}

std::string zsh() {
    std::string text = "#compdef cudaenv\n"
                       "_cudaenv() {\n"
                       "    if (( CURRENT == 2 )); then\n"
                       "        local -a commands\n"
                       "        commands=(\n";
    for (const CommandRow& command : commands()) {
        text += "            " +
                quote_word(Shell::Posix,
                           std::string(command.name) + ':' + std::string(command.summary)) +
                '\n';
    }
    text += "        )\n"
            "        _describe command commands\n"
            "        return\n"
            "    fi\n"
            "    local command=$words[2]\n"
            "    shift words\n"
            "    (( CURRENT-- ))\n"
            "    case $command in\n";
    for (const CommandRow& command : commands()) {
        text += "    " + std::string(command.name) + ")\n        _arguments";
        for (const OptionRow& row : offered_options(command)) {
            text += " \\\n           " + zsh_option(row);
        }
        if (!command.arguments.choices.empty()) {
            text += " \\\n            " +
                    quote_word(Shell::Posix, "1:" + std::string(command.arguments.name) + ":(" +
                                                 words_of(command.arguments.choices) + ')');
        }
        if (command.arguments.is_command) {
            text += " \\\n            '*::" + std::string(command.arguments.name) + ":_normal'";
        }
        text += " ;;\n";
    }
    text += "    esac\n"
            "}\n"
            "if [ \"$funcstack[1]\" = _cudaenv ]; then\n"
            "    _cudaenv \"$@\"\n"
            "else\n"
            "    compdef _cudaenv cudaenv\n"
            "fi\n";
    return text;
}

std::string fish_option(const OptionRow& row, const std::string& condition) {
    std::string text = "complete -c cudaenv";
    if (!condition.empty()) {
        text += " -n " + quote_word(Shell::Fish, condition);
    }
    text += " -l " + std::string(row.name);
    if (row.letter != 0) {
        text += std::string(" -s ") + row.letter;
    }
    if (row.file) {
        text += " -r -F";
    } else if (!row.value.empty()) {
        text += " -x";
        if (!row.choices.empty()) {
            text += " -a " + quote_word(Shell::Fish, words_of(row.choices));
        }
    }
    return text + " -d " + quote_word(Shell::Fish, row.help) + '\n';
}

std::string fish() {
    std::string text = "# fish completion for cudaenv\n"
                       "complete -c cudaenv -f\n"
                       "complete -c cudaenv -n __fish_use_subcommand -l version -d 'the version'\n";
    for (const OptionRow& row : common_options()) {
        text += fish_option(row, {});
    }
    for (const CommandRow& command : commands()) {
        const std::string name(command.name);
        const std::string here = "__fish_seen_subcommand_from " + name;
        text += "complete -c cudaenv -n __fish_use_subcommand -a " + name + " -d " +
                quote_word(Shell::Fish, command.summary) + '\n';
        if (!command.arguments.choices.empty()) {
            text += "complete -c cudaenv -n " + quote_word(Shell::Fish, here) + " -a " +
                    quote_word(Shell::Fish, words_of(command.arguments.choices)) + '\n';
        }
        if (command.arguments.is_command) {
            text += "complete -c cudaenv -n " + quote_word(Shell::Fish, here) +
                    " -a '(__fish_complete_command)'\n";
        }
        for (const OptionRow& row : command.options) {
            if (row.offered == Offered::Yes) {
                text += fish_option(row, here);
            }
        }
        if (command.reads_host) {
            for (const OptionRow& row : host_options()) {
                text += fish_option(row, here);
            }
        }
    }
    return text;
}

std::string tcsh() {
    std::string text = "# tcsh completion for cudaenv\ncomplete cudaenv";
    for (const OptionRow& row : all_options()) {
        std::string action;
        if (row.file) {
            action = "f";
        } else if (!row.choices.empty()) {
            action = '(' + words_of(row.choices) + ')';
        } else if (!row.value.empty()) {
            action = "x:" + std::string(row.name) + ':';
        }
        if (action.empty()) {
            continue;
        }
        text += " \\\n    'n/--" + std::string(row.name) + '/' + action + "/'";
        if (row.letter != 0) {
            text += std::string(" 'n/-") + row.letter + '/' + action + "/'";
        }
    }
    text += " \\\n    'c/--/(version";
    for (const OptionRow& row : all_options()) {
        text += ' ' + std::string(row.name);
    }
    text += ")/'";
    for (const CommandRow& command : commands()) {
        if (!command.arguments.choices.empty()) {
            text += " \\\n    'n/" + std::string(command.name) + "/(" +
                    words_of(command.arguments.choices) + ")/'";
        }
    }
    text += " \\\n    'p/1/(" + command_words() + ")/'\n";
    return text;
}

} // namespace

std::string completions_for(std::string_view shell) {
    return shell == "bash"   ? bash()
           : shell == "zsh"  ? zsh()
           : shell == "fish" ? fish()
           : shell == "tcsh" ? tcsh()
                             : std::string();
}

} // namespace cudaenv::cli
