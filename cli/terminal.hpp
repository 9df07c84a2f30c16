// What standard output can show: decided once, from the terminal, the environment and the options.
#pragma once

#include "cli/command_line.hpp"

#include <functional>

namespace cudaenv::cli {

constexpr int k_most_columns = 100;

// Where the output goes: no value for a pipe or a file.
struct Terminal {
    bool is_terminal = false;
    int columns = k_most_columns;
};

// One ioctl.
Terminal terminal_of(int fd);

using Variables = std::function<const char*(const char* name)>; // getenv, or a test's

// --color, then NO_COLOR, CLICOLOR_FORCE, CLICOLOR, TERM=dumb, terminal. Pure.
bool wants_colour(ColourWish wish, const Terminal& terminal, const Variables& variable);
// LC_ALL, LC_CTYPE, LANG: the first that is set and not empty decides. Pure.
bool locale_is_utf8(const Variables& variable);

} // namespace cudaenv::cli
