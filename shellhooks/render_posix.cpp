#include "shellhooks/quote.hpp"
#include "shellhooks/renderers.hpp"

#include <algorithm>
#include <vector>

namespace cudaenv::shellhooks {

namespace {

// A variable that the user has made readonly stays as it is, silently: the shell goes on, also with
// `set -e` and in posix mode, where an error of export or unset itself would end it (`command`
// takes that away). The backslash is against aliases, `builtin` against functions of these names.
std::string render_change(Shell shell, const plan::Change& change) {
    const std::string& name = change.name;
    const std::string assignment =
        change.value ? name + '=' + quote_word(shell, *change.value) : std::string();
    const bool exported = name != k_unexported_variable;
    if (shell == Shell::Zsh) {
        // In zsh an error of a builtin ends the whole text, so it is asked before.
        const std::string free = "[[ ${(t)" + name + "-} == *readonly* ]] || ";
        if (!change.value) {
            return free + "\\builtin unset -v " + name + '\n';
        }
        return free + (exported ? "\\builtin export " : "") + assignment + '\n';
    }
    if (change.value && !exported) {
        return assignment + '\n';
    }
    return "\\command " + (change.value ? "export " + assignment : "unset -v " + name) +
           " 2>/dev/null || :\n";
}

// Names that cannot be a shell's variable are in the environment now and then; no shell can touch
// them.
bool is_name(std::string_view name) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Without a stamp nobody can tell whether a file has changed, and without a directory there is
// nothing that could hold: the program has to be asked.
bool can_be_compared(const Watch& watch) {
    return !watch.directory.empty() && std::ranges::all_of(watch.files, [](const WatchedFile& f) {
        return !f.exists || !f.stamp.empty();
    });
}

// The cheap ones first. Every comparison is safe under `set -u`.
std::vector<std::string> differences(Shell shell, const Watch& watch) {
    const auto quoted = [&](const std::string& word) { return quote_word(shell, word); };
    std::vector<std::string> out;
    out.push_back("${PWD-} != " + quoted(watch.directory));
    std::string set; // of those that were unset: x where one is set now
    for (const plan::Change& variable : watch.variables) {
        if (is_name(variable.name) && !variable.value) {
            set += "${" + variable.name + "+x}";
        }
    }
    if (!set.empty()) {
        out.push_back("-n " + set);
    }
    for (const plan::Change& variable : watch.variables) {
        if (!is_name(variable.name) || !variable.value) {
            continue;
        }
        if (variable.value->empty()) {
            out.push_back("-n ${" + variable.name + "-x}");
        } else {
            out.push_back("${" + variable.name + "-} != " + quoted(*variable.value));
        }
    }
    for (const WatchedFile& file : watch.files) {
        const std::string path = quoted(file.path);
        if (!file.exists) {
            out.push_back("-e " + path);
            continue;
        }
        // Where one of the two is missing, bash says newer or older and zsh neither.
        const std::string stamp = quoted(file.stamp);
        out.push_back(path + " -nt " + stamp);
        out.push_back(path + " -ot " + stamp);
        out.push_back("! -e " + path);
        if (shell == Shell::Zsh) {
            out.push_back("! -e " + stamp);
        }
    }
    return out;
}

std::string stale_function(Shell shell, const Watch& watch) {
    if (!can_be_compared(watch)) {
        return "function __cudaenv_stale { return 0; }\n";
    }
    std::string out = "function __cudaenv_stale {\n[[ ";
    // With nocasematch no comparison of bash is exact; the hook switches it off meanwhile.
    std::string before = shell == Shell::Bash ? "a == A || " : "";
    for (const std::string& difference : differences(shell, watch)) {
        out += before + difference;
        before = " ||\n";
    }
    return out + " ]]\n}\n";
}

} // namespace

std::string render_changes_posix(Shell shell, std::span<const plan::Change> changes) {
    std::string out;
    for (const plan::Change& change : changes) {
        if (is_name(change.name)) {
            out += render_change(shell, change);
        }
    }
    return out;
}

std::string render_watch_bash(const Watch& watch) {
    return stale_function(Shell::Bash, watch);
}

std::string render_watch_zsh(const Watch& watch) {
    return stale_function(Shell::Zsh, watch);
}

} // namespace cudaenv::shellhooks
