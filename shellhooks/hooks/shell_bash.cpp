#include "shellhooks/hooks/completion.hpp"
#include "shellhooks/hooks/posix.hpp"
#include "shellhooks/hooks/quote.hpp"

#include <algorithm>

extern "C" const char cudaenv_hook_bash[];

namespace cudaenv::hooks {

extern const Shell k_bash;

namespace {

// The words that the comparisons name, as variables of the shell: bash reads a variable faster than
// a word in quotes.
class BashWords {
public:
    std::string variable(const std::string& value) {
        const std::string name = "__cudaenv_" + std::to_string(m_names.size());
        define(name, value);
        return '$' + name;
    }
    void define(const std::string& name, const std::string& value) {
        m_names.push_back(name);
        m_text += name + '=' + quote_word(k_bash, value) + '\n';
    }
    // Where set -a is on, an assignment exports.
    [[nodiscard]] std::string text() const {
        std::string out = m_text + "\\command export -n";
        for (const std::string& name : m_names) {
            out += ' ' + name;
        }
        return out + '\n';
    }

private:
    std::vector<std::string> m_names;
    std::string m_text;
};

// As a pattern it matches only itself, so it needs no quotes, which cost a microsecond.
bool is_plain_pattern(std::string_view value) {
    return std::ranges::all_of(value, [](char c) {
        return c > ' ' && c < '\x7F' && std::string_view("*?[]\\()").find(c) == std::string::npos;
    });
}

// Two forms of one check. `__cudaenv_check` is what a prompt does: as short as can be, since bash
// copies a function's body at each call, and always stale where a shell's options make it inexact
// (with nocasematch its first pattern matches nothing). `__cudaenv_stale` is exact under `set -u`
// too.
std::string render_check(const Watch& watch) {
    if (!is_comparable(watch, &WatchedFile::stamp)) {
        return "__cudaenv_check=:\n" + std::string(k_always_stale);
    }
    BashWords words;
    std::string empty;
    std::string plain_empty;
    for (const patch::Change& variable : watch.variables) {
        if (is_variable_name(variable.name) && variable.value.value_or("").empty()) {
            empty += expansion_of_empty(variable);
            plain_empty += expansion_of_empty(variable, Expand::Plain);
        }
    }
    std::vector<std::string> quick{"-o nounset"};
    std::vector<std::string> differences;
    std::string subject = "a";
    std::string pattern = "[!A]";
    const std::vector<Row> plain = rows(watch, plain_empty, Expand::Plain);
    const std::vector<Row> guarded = rows(watch, empty, Expand::UnsetToo);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        std::string value = words.variable(plain[i].value);
        if (!is_plain_pattern(plain[i].value)) {
            value = '"' + value + '"';
        }
        value.insert(0, " != " + pattern);
        quick.push_back(subject + plain[i].expansions + value);
        differences.push_back(subject + guarded[i].expansions + value);
        subject.clear();
        pattern.clear();
    }
    const auto add = [&](const std::string& difference) {
        quick.push_back(difference);
        differences.push_back(difference);
    };
    const bool alone = std::ranges::count_if(watch.files, [](const WatchedFile& file) {
                           return !file.stamp.empty() && file.seen != WatchedFile::Seen::WhereFree;
                       }) < 2;
    for (const WatchedFile& file : watch.files) {
        if (file.seen == WatchedFile::Seen::WhereFree) {
            continue;
        }
        const std::string path = words.variable(path_from_here(watch, file));
        if (!file.exists || file.seen == WatchedFile::Seen::Existence) {
            add((file.exists ? "! -e " : "-e ") + path);
            continue;
        }
        // Where one of the two is missing, the other one is the newer. Where both are, neither is;
        // then any other file is newer than its own stamp, since stamps disappear together.
        const std::string stamp = words.variable(file.stamp);
        add(path + " -nt " + stamp);
        if (file.seen == WatchedFile::Seen::Time) {
            add(path + " -ot " + stamp);
        }
        if (alone) {
            add("! -e " + path);
        }
    }
    words.define("__cudaenv_check", any_of(quick));
    return words.text() + stale_function(any_of(differences));
}

std::string render_watch(const Watch& watch) {
    return render_check(watch) +
           (watch.waited.empty()
                ? ""
                : "__cudaenv_waited=" + watch.waited + "\n\\command export -n __cudaenv_waited\n");
}

// "--channel|-c"
std::string pattern_of(const OptionRow& row) {
    return "--" + std::string(row.name) + (row.letter == 0 ? "" : std::string("|-") + row.letter);
}

std::string completions(std::span<const CompletedCommand> commands) {
    std::string text = "# bash completion for cudaenv\n"
                       "_cudaenv() {\n"
                       "    local current=\"${COMP_WORDS[COMP_CWORD]}\"\n"
                       "    local previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
                       "    local command=\"\" words=\"\" i\n"
                       "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                       "        case \"${COMP_WORDS[i]}\" in\n"
                       "        " +
                       names_of(commands, '|') +
                       ")\n"
                       "            command=\"${COMP_WORDS[i]}\"\n"
                       "            break ;;\n"
                       "        esac\n"
                       "    done\n"
                       "    case \"$previous\" in\n";
    for (const OptionRow& row : distinct_options(commands)) {
        if (row.is_path) {
            text += "    " + pattern_of(row) +
                    ")\n        compopt -o filenames\n"
                    "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
                    "        return ;;\n";
        } else if (row.choices != nullptr) {
            text += "    " + pattern_of(row) + ")\n        mapfile -t COMPREPLY < <(compgen -W \"" +
                    std::string(row.choices()) + "\" -- \"$current\")\n        return ;;\n";
        } else if (!row.value.empty()) {
            text += "    " + pattern_of(row) + ")\n        return ;;\n";
        }
    }
    text += "    esac\n    case \"$command\" in\n";
    std::string common;
    for (const CompletedCommand& command : commands) {
        if (command.arguments.is_command) {
            text += "    " + std::string(command.name) +
                    ")\n        if [[ $current != -* ]]; then\n"
                    "            mapfile -t COMPREPLY < <(compgen -c -- \"$current\")\n"
                    "            return\n        fi ;;&\n";
        }
        std::string words(command.arguments.choices == nullptr ? "" : command.arguments.choices());
        common.clear();
        for (std::size_t i = 0; i < command.options.size(); ++i) {
            const std::string word = "--" + std::string(command.options[i].name);
            words += (words.empty() ? "" : " ") + word;
            common += i + command.common < command.options.size() ? "" : ' ' + word;
        }
        text += "    " + std::string(command.name) + ") words=\"" + words + "\" ;;\n";
    }
    return text + "    *) words=\"" + names_of(commands, ' ') + " --version" + common +
           "\" ;;\n    esac\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
           "}\n"
           "complete -F _cudaenv cudaenv\n";
}

} // namespace

constinit const Shell k_bash{
    .name = "bash",
    .plain_marks = k_posix_plain_marks,
    .quote = quote_posix,
    .render_changes = render_changes_posix,
    .hook = cudaenv_hook_bash,
    .render_watch = render_watch,
    .evaluate_hook = R"+(eval "$(cudaenv hook bash)")+",
    .start_files = {"~/.bashrc"},
    .start_lines = [](const std::string& program) { return posix_start_lines(k_bash, program); },
    .completions = completions,
};

} // namespace cudaenv::hooks
