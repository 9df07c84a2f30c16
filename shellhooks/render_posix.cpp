#include "shellhooks/quote.hpp"
#include "shellhooks/renderers.hpp"

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

} // namespace

std::string render_changes_posix(Shell shell, std::span<const plan::Change> changes) {
    std::string out;
    for (const plan::Change& change : changes) {
        if (is_variable_name(change.name)) {
            out += render_change(shell, change);
        }
    }
    return out;
}

} // namespace cudaenv::shellhooks
