#include "shellhooks/quote.hpp"
#include "shellhooks/renderers.hpp"

#include <algorithm>

namespace cudaenv::shellhooks {

namespace {

// Read with default settings: with `backslash_quote` a backslash means another thing inside single
// quotes, and with other `histchars` the one before `!` stays. (eval, because a variable is looked
// up before `if` decides.)
constexpr std::string_view k_with_default_quoting =
    "set __cudaenv_quoting=($?backslash_quote $?histchars) ;\n"
    "if ($?histchars) eval 'set __cudaenv_histchars=$histchars:q' ;\n"
    "unset backslash_quote histchars ;\n";
constexpr std::string_view k_with_own_quoting =
    "if ($__cudaenv_quoting[1]) set backslash_quote ;\n"
    "if ($__cudaenv_quoting[2]) eval 'set histchars=$__cudaenv_histchars:q' ;\n"
    "unset __cudaenv_quoting __cudaenv_histchars ;\n";

bool needs_default_quoting(const plan::Change& change) {
    return change.value && change.value->find_first_of("\\!'\n") != std::string::npos;
}

std::string render(const plan::Change& change) {
    const bool exported = change.name != k_unexported_variable;
    if (!change.value) {
        return (exported ? "unsetenv " : "unset ") + change.name + " ;\n";
    }
    return (exported ? "setenv " + change.name + ' ' : "set " + change.name + '=') +
           quote_word(Shell::Tcsh, *change.value) + " ;\n";
}

} // namespace

// Each line ends with ` ;`, so that a text whose values have no newline is the same on one line: as
// such eval "`...`" sees it.
std::string render_changes_tcsh(std::span<const plan::Change> changes) {
    const bool guarded = std::ranges::any_of(changes, needs_default_quoting);
    std::string out(guarded ? k_with_default_quoting : "");
    for (const plan::Change& change : changes) {
        out += render(change);
    }
    return out.append(guarded ? k_with_own_quoting : "");
}

std::string render_watch_tcsh(const Watch& watch) {
    return "set __cudaenv_watch=" + quote_word(Shell::Tcsh, write_watch(watch)) + " ;\n";
}

} // namespace cudaenv::shellhooks
