#include "shellhooks/hooks/completion.hpp"
#include "shellhooks/hooks/prompt_watch.hpp"
#include "shellhooks/hooks/quote.hpp"
#include "shellhooks/hooks/shell.hpp"

extern "C" const char cudaenv_hook_fish[];
extern "C" const char cudaenv_activate_fish[];
extern "C" const char cudaenv_deactivate_fish[];

namespace cudaenv::hooks {

extern const Shell k_fish;

namespace {

// Inside fish's single quotes only \\ and \' are escapes.
std::string quote(std::string_view word) {
    std::string out = "'";
    for (const char c : word) {
        if (c == '\\' || c == '\'') {
            out += '\\';
        }
        out += c;
    }
    return out + '\'';
}

// Restores what fish has beyond the environment's bytes: a global is erased where the universal
// variable below it has the value, and a list (`set -gx CC gcc -m64`) stays a list. "$NAME" is the
// very text that a child sees: joined by ':' where the name is a path, else by ' '.
std::string render_set(const std::string& name, const std::string& value) {
    const std::string word = quote_word(k_fish, value);
    const std::string list = "__cudaenv_list_" + name;
    std::string out;
    out += "set -qU " + name + "; and set -eg " + name + '\n';
    out += "if set -qx " + name + "; and contains -- " + word + " \"$" + name + "\"\n";
    out += "else if set -q " + list + "; and contains -- " + word + " \"$" + list + "\"\n";
    out += "set -gx " + name + " $" + list + '\n';
    out += "set -eg " + list + '\n';
    out += "else\n";
    out += "set -q " + name + "[2]; and set -g " + list + " $" + name + '\n';
    out += "set -gx " + name + ' ' + word + '\n';
    out += "end\n";
    return out;
}

std::string render(const patch::Change& change) {
    if (!change.value) {
        // A universal variable of that name is the user's and becomes visible again.
        return "set -eg " + change.name + '\n';
    }
    if (change.name == k_unexported_variable) {
        // Without -x, so that it stays exported if it is (venv's activate.fish exports it).
        return "set -g " + change.name + ' ' + quote_word(k_fish, *change.value) + '\n';
    }
    return render_set(change.name, *change.value);
}

std::string render_changes(std::span<const patch::Change> changes) {
    std::string out;
    for (const patch::Change& change : changes) {
        out += render(change);
    }
    return out;
}

std::string render_watch(const Watch& watch) {
    return "set -g __cudaenv_watch " + quote_word(k_fish, write_watch(watch)) + '\n' +
           (watch.waited.empty() ? "" : "set -g __cudaenv_waited " + watch.waited + '\n');
}

std::string start_lines(const std::string& program) {
    const std::string word = quote_word(k_fish, program);
    return "if test -x " + word + "\n    " + word + " hook fish | source\nend\n";
}

std::string completed_option(const OptionRow& row, const std::string& condition) {
    std::string text = "complete -c cudaenv";
    if (!condition.empty()) {
        text += " -n " + quote_word(k_fish, condition);
    }
    text += " -l " + std::string(row.name);
    if (row.letter != 0) {
        text += std::string(" -s ") + row.letter;
    }
    if (row.is_path) {
        text += " -r -F";
    } else if (!row.value.empty()) {
        text += " -x";
        if (row.choices != nullptr) {
            text += " -a " + quote_word(k_fish, row.choices());
        }
    }
    return text + " -d " + quote_word(k_fish, row.help) + '\n';
}

std::string completions(std::span<const CompletedCommand> commands) {
    std::string text =
        "# fish completion for cudaenv\n"
        "complete -c cudaenv -f\n"
        "complete -c cudaenv -n __fish_use_subcommand -l version -d 'show version and build'\n";
    for (const OptionRow& row : std::span(commands.front().options).last(commands.front().common)) {
        text += completed_option(row, {});
    }
    for (const CompletedCommand& command : commands) {
        const std::string name(command.name);
        const std::string here = "__fish_seen_subcommand_from " + name;
        text += "complete -c cudaenv -n __fish_use_subcommand -a " + name + " -d " +
                quote_word(k_fish, command.summary) + '\n';
        if (command.arguments.choices != nullptr) {
            text += "complete -c cudaenv -n " + quote_word(k_fish, here) + " -a " +
                    quote_word(k_fish, command.arguments.choices()) + '\n';
        }
        if (command.arguments.is_command) {
            text += "complete -c cudaenv -n " + quote_word(k_fish, here) +
                    " -a '(__fish_complete_command)'\n";
        }
        const std::span own(command.options.data(), command.options.size() - command.common);
        for (const OptionRow& row : own) {
            text += completed_option(row, here);
        }
    }
    return text;
}

} // namespace

constinit const Shell k_fish{
    .name = "fish",
    .plain_marks = "@%=,",
    .quote = quote,
    .render_changes = render_changes,
    .attach = {"fish", cudaenv_activate_fish, cudaenv_deactivate_fish},
    .hook = cudaenv_hook_fish,
    .render_watch = render_watch,
    .expansion = "$NAME",
    .evaluate_hook = "cudaenv hook fish | source",
    // Not conf.d, which is read before it: conda writes itself in here.
    .start_files = {"$XDG_CONFIG_HOME/fish/config.fish"},
    .start_lines = start_lines,
    .completions = completions,
};

} // namespace cudaenv::hooks
