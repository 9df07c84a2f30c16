#include "shellhooks/shell.hpp"

#include <array>

namespace cudaenv::shellhooks {

namespace {

struct Name {
    std::string_view name;
    Shell shell;
};

// Of several names for one shell the first is its own.
constexpr auto k_names = std::to_array<Name>({
    {"posix", Shell::Posix},
    {"sh", Shell::Posix},
    {"dash", Shell::Posix},
    {"ksh", Shell::Posix},
    {"bash", Shell::Bash},
    {"zsh", Shell::Zsh},
    {"fish", Shell::Fish},
    {"tcsh", Shell::Tcsh},
    {"csh", Shell::Tcsh},
    {"xonsh", Shell::Xonsh},
});

constexpr std::array k_hooked{Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Tcsh, Shell::Xonsh};

} // namespace

std::optional<Shell> shell_named(std::string_view name) {
    for (const Name& known : k_names) {
        if (known.name == name) {
            return known.shell;
        }
    }
    return std::nullopt;
}

std::string_view name_of(Shell shell) {
    for (const Name& known : k_names) {
        if (known.shell == shell) {
            return known.name;
        }
    }
    return {};
}

std::span<const Shell> hooked_shells() {
    return k_hooked;
}

} // namespace cudaenv::shellhooks
