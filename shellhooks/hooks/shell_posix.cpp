// sh, dash and ksh: no prompt hook, but `cudaenv env --shell sh` and the scripts of `attach`.
#include "shellhooks/hooks/posix.hpp"
#include "shellhooks/hooks/quote.hpp"

#include <algorithm>

extern "C" const char cudaenv_activate_sh[];
extern "C" const char cudaenv_deactivate_sh[];

namespace cudaenv::hooks {

std::string quote_posix(std::string_view word) {
    std::string out = "'";
    for (const char c : word) {
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + '\'';
}

bool is_variable_name(std::string_view name) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// A variable that the user has made readonly stays as it is, without a message: `command` keeps an
// error of export or unset from ending the shell, also with `set -e` and in posix mode. The
// backslash is against aliases, `command` against functions of these names.
std::string render_changes_posix(std::span<const patch::Change> changes) {
    std::string out;
    for (const patch::Change& change : changes) {
        if (!is_variable_name(change.name)) {
            continue;
        }
        const std::string assignment =
            change.value ? change.name + '=' + quote_word(k_posix, *change.value) : std::string();
        if (change.value && change.name == k_unexported_variable) {
            out += assignment + '\n';
            continue;
        }
        out += "\\command " + (change.value ? "export " + assignment : "unset -v " + change.name) +
               " 2>/dev/null || :\n";
    }
    return out;
}

std::string posix_start_lines(const Shell& shell, const std::string& program) {
    const std::string word = quote_word(shell, program);
    return "if [ -x " + word + " ]; then\n    eval \"$(" + word + " hook " +
           std::string(shell.name) + ")\"\nfi\n";
}

constinit const Shell k_posix{
    .name = "posix",
    .other_names = "sh dash ksh",
    .plain_marks = k_posix_plain_marks,
    .quote = quote_posix,
    .render_changes = render_changes_posix,
    .attach = {"sh", cudaenv_activate_sh, cudaenv_deactivate_sh},
    .render_watch = [](const Watch&) { return std::string(); },
};

} // namespace cudaenv::hooks
