// One line on standard error, if that is a terminal, that says what is being waited for. It is
// redrawn in place, and erased before anything else is written.
#pragma once

#include "cli/command_line.hpp"
#include "protocol/message.hpp"

#include <functional>
#include <string_view>

namespace cudaenv::cli {

class ProgressLine {
public:
    ProgressLine() = default;
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine() { clear(); }

    // The terminal can return to the beginning of a line.
    static bool can_be_shown();

    void show(std::string_view text);
    void show(const protocol::Progress& progress);
    void clear();

private:
    bool m_shown = false;
};

// What standard output can show: decided once, from the terminal, the environment and the options.

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
