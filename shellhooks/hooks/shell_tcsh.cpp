// tcsh, and csh where no hook is needed.
#include "shellhooks/hooks/completion.hpp"
#include "shellhooks/hooks/prompt_watch.hpp"
#include "shellhooks/hooks/quote.hpp"
#include "shellhooks/hooks/shell.hpp"

#include <algorithm>

extern "C" const char cudaenv_hook_tcsh[];
extern "C" const char cudaenv_activate_csh[];
extern "C" const char cudaenv_deactivate_csh[];

namespace cudaenv::hooks {

extern const Shell k_tcsh;

namespace {

// csh replaces history marks and ends a line even inside single quotes: both need a backslash
// there.
std::string quote(std::string_view word) {
    std::string out = "'";
    for (const char c : word) {
        if (c == '\'') {
            out += "'\\''";
            continue;
        }
        if (c == '!' || c == '\n') {
            out += '\\';
        }
        out += c;
    }
    return out + '\'';
}

// Read with default settings: `backslash_quote` changes what a backslash means inside single
// quotes, and with other `histchars` the backslash before `!` stays. (eval, because a variable is
// looked up before `if` decides.)
constexpr std::string_view k_with_default_quoting =
    "set __cudaenv_quoting=($?backslash_quote $?histchars) ;\n"
    "if ($?histchars) eval 'set __cudaenv_histchars=$histchars:q' ;\n"
    "unset backslash_quote histchars ;\n";
constexpr std::string_view k_with_own_quoting =
    "if ($__cudaenv_quoting[1]) set backslash_quote ;\n"
    "if ($__cudaenv_quoting[2]) eval 'set histchars=$__cudaenv_histchars:q' ;\n"
    "unset __cudaenv_quoting __cudaenv_histchars ;\n";

bool needs_default_quoting(const patch::Change& change) {
    return change.value && change.value->find_first_of("\\!'\n") != std::string::npos;
}

std::string render(const patch::Change& change) {
    const bool exported = change.name != k_unexported_variable;
    if (!change.value) {
        return (exported ? "unsetenv " : "unset ") + change.name + " ;\n";
    }
    return (exported ? "setenv " + change.name + ' ' : "set " + change.name + '=') +
           quote_word(k_tcsh, *change.value) + " ;\n";
}

// Each line ends with ` ;`, so that a text whose values have no newline is the same on one line,
// as eval "`...`" sees it.
std::string render_changes(std::span<const patch::Change> changes) {
    const bool guarded = std::ranges::any_of(changes, needs_default_quoting);
    std::string out(guarded ? k_with_default_quoting : "");
    for (const patch::Change& change : changes) {
        out += render(change);
    }
    return out.append(guarded ? k_with_own_quoting : "");
}

std::string render_watch(const Watch& watch) {
    return "set __cudaenv_watch=" + quote_word(k_tcsh, write_watch(watch)) + " ;\n" +
           (watch.waited.empty() ? "" : "set __cudaenv_waited=" + watch.waited + " ;\n");
}

std::string start_lines(const std::string& program) {
    const std::string word = quote_word(k_tcsh, program);
    // Inside "`...`" no quoting of a path is safe.
    return "if ( -x " + word + " ) then\n" +
           (word == program ? "    eval \"`" + word + " hook tcsh`\"\n"
                            : "    set __cudaenv_file=`mktemp`\n    " + word +
                                  " hook tcsh >! $__cudaenv_file:q\n    source $__cudaenv_file:q\n"
                                  "    \\rm -f $__cudaenv_file:q\n    unset __cudaenv_file\n") +
           "endif\n";
}

std::string completions(std::span<const CompletedCommand> commands) {
    const std::vector<OptionRow> options = distinct_options(commands);
    std::string text = "# tcsh completion for cudaenv\ncomplete cudaenv";
    for (const OptionRow& row : options) {
        std::string action;
        if (row.is_path) {
            action = "f";
        } else if (row.choices != nullptr) {
            action = '(' + std::string(row.choices()) + ')';
        } else if (!row.value.empty()) {
            action = "x:" + std::string(row.name) + ':';
        } else {
            continue;
        }
        text += " \\\n    'n/--" + std::string(row.name) + '/' + action + "/'";
        if (row.letter != 0) {
            text += std::string(" 'n/-") + row.letter + '/' + action + "/'";
        }
    }
    text += " \\\n    'c/--/(version";
    for (const OptionRow& row : options) {
        text += ' ' + std::string(row.name);
    }
    text += ")/'";
    for (const CompletedCommand& command : commands) {
        if (command.arguments.choices != nullptr) {
            text += " \\\n    'n/" + std::string(command.name) + "/(" +
                    std::string(command.arguments.choices()) + ")/'";
        }
    }
    return text + " \\\n    'p/1/(" + names_of(commands, ' ') + ")/'\n";
}

} // namespace

constinit const Shell k_tcsh{
    .name = "tcsh",
    .other_names = "csh",
    .plain_marks = "@%=,",
    .quote = quote,
    .render_changes = render_changes,
    .attach = {"csh", cudaenv_activate_csh, cudaenv_deactivate_csh},
    .hook = cudaenv_hook_tcsh,
    .render_watch = render_watch,
    .answers_in_file = true,
    .evaluate_hook = "eval \"`cudaenv hook tcsh`\"",
    // .cshrc is read only where there is no .tcshrc.
    .start_files = {"~/.tcshrc", "~/.cshrc"},
    .start_lines = start_lines,
    .completions = completions,
};

} // namespace cudaenv::hooks
