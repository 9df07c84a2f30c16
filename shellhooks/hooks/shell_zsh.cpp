#include "shellhooks/hooks/completion.hpp"
#include "shellhooks/hooks/posix.hpp"
#include "shellhooks/hooks/quote.hpp"

extern "C" const char cudaenv_hook_zsh[];

namespace cudaenv::hooks {

extern const Shell k_zsh;

namespace {

// In zsh an error of a builtin ends the whole text, so readonly variables are skipped beforehand.
std::string render_changes(std::span<const patch::Change> changes) {
    std::string out;
    for (const patch::Change& change : changes) {
        if (!is_variable_name(change.name)) {
            continue;
        }
        const std::string& name = change.name;
        out += "[[ ${(t)" + name + "-} == *readonly* ]] || ";
        if (!change.value) {
            out += "\\builtin unset -v " + name + '\n';
            continue;
        }
        out += (name == k_unexported_variable ? "" : "\\builtin export ") + name + '=' +
               quote_word(k_zsh, *change.value) + '\n';
    }
    return out;
}

std::string render_check(const Watch& watch) {
    if (!is_comparable(watch, &WatchedFile::stamp_after)) {
        return std::string(k_always_stale);
    }
    std::vector<std::string> differences;
    std::string empty;
    for (const patch::Change& variable : watch.variables) {
        if (is_variable_name(variable.name) && variable.value && variable.value->empty()) {
            empty += expansion_of_empty(variable);
        } else if (is_variable_name(variable.name) && !variable.value) {
            differences.push_back("-v " + variable.name); // a quarter of ${NAME+x}
        }
    }
    for (const Row& row : rows(watch, empty, Expand::UnsetToo)) {
        differences.push_back(row.expansions + " != " + quote_word(k_zsh, row.value));
    }
    for (const WatchedFile& file : watch.files) {
        if (file.seen == WatchedFile::Seen::WhereFree) {
            continue;
        }
        const std::string path = quote_word(k_zsh, path_from_here(watch, file));
        if (!file.exists || file.seen == WatchedFile::Seen::Existence) {
            differences.push_back((file.exists ? "! -e " : "-e ") + path);
            continue;
        }
        // False as well where one of the two is missing.
        differences.push_back("! " + quote_word(k_zsh, file.stamp_after) + " -nt " + path);
        if (file.seen == WatchedFile::Seen::Time) {
            differences.push_back("! " + path + " -nt " + quote_word(k_zsh, file.stamp_before));
        }
    }
    return stale_function(any_of(differences));
}

std::string render_watch(const Watch& watch) {
    return render_check(watch) +
           (watch.waited.empty() ? "" : "typeset -g +x __cudaenv_waited=" + watch.waited + '\n');
}

// One specification of _arguments.
std::string specification(const OptionRow& row) {
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
        tail += row.is_path              ? "_files"
                : row.choices == nullptr ? " "
                                         : '(' + std::string(row.choices()) + ')';
    }
    const std::string star = row.repeats ? "*" : "";
    std::string text = ' ' + quote_word(k_zsh, star + "--" + std::string(row.name) + tail);
    if (row.letter != 0) {
        text += ' ' + quote_word(k_zsh, star + '-' + row.letter + tail);
    }
    return text;
}

std::string completions(std::span<const CompletedCommand> commands) {
    std::string text = "#compdef cudaenv\n"
                       "_cudaenv() {\n"
                       "    if (( CURRENT == 2 )); then\n"
                       "        local -a commands\n"
                       "        commands=(\n";
    for (const CompletedCommand& command : commands) {
        text += "            " +
                quote_word(k_zsh, std::string(command.name) + ':' + std::string(command.summary)) +
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
    for (const CompletedCommand& command : commands) {
        text += "    " + std::string(command.name) + ")\n        _arguments";
        for (const OptionRow& row : command.options) {
            text += " \\\n           " + specification(row);
        }
        if (command.arguments.choices != nullptr) {
            text += " \\\n            " +
                    quote_word(k_zsh, "1:" + std::string(command.arguments.name) + ":(" +
                                          std::string(command.arguments.choices()) + ')');
        }
        if (command.arguments.is_command) {
            text += " \\\n            '*::" + std::string(command.arguments.name) + ":_normal'";
        }
        text += " ;;\n";
    }
    return text + "    esac\n"
                  "}\n"
                  "if [ \"$funcstack[1]\" = _cudaenv ]; then\n"
                  "    _cudaenv \"$@\"\n"
                  "else\n"
                  "    compdef _cudaenv cudaenv\n"
                  "fi\n";
}

} // namespace

constinit const Shell k_zsh{
    .name = "zsh",
    .plain_marks = k_posix_plain_marks,
    .quote = quote_posix,
    .render_changes = render_changes,
    .hook = cudaenv_hook_zsh,
    .render_watch = render_watch,
    .evaluate_hook = R"+(eval "$(cudaenv hook zsh)")+",
    .start_files = {"$ZDOTDIR/.zshrc"},
    .start_lines = [](const std::string& program) { return posix_start_lines(k_zsh, program); },
    .completions = completions,
};

} // namespace cudaenv::hooks
