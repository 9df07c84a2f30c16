// The shells that cudaenv speaks. Pure.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace cudaenv::shellhooks {

enum class Shell {
    Posix, // sh, dash, ksh: for `cudaenv env --shell sh` and activate.d; has no hook
    Bash,
    Zsh,
    Fish,
    Tcsh, // and csh
    Xonsh,
};

// "bash"; "sh", "dash", "ksh" and "posix" are Posix, "csh" is Tcsh. Nothing for an unknown one.
std::optional<Shell> shell_named(std::string_view name);
std::string_view name_of(Shell shell); // "posix", "bash", ...
// Those with a prompt hook, in the order of the help.
std::span<const Shell> hooked_shells();

} // namespace cudaenv::shellhooks
