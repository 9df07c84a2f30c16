#include "cli/terminal.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstring>
#include <sys/ioctl.h>

namespace cudaenv::cli {

namespace {

// An empty variable counts as unset, as NO_COLOR specifies.
bool set(const Variables& variable, const char* name) {
    const char* value = variable(name);
    return value != nullptr && *value != '\0';
}

bool is(const Variables& variable, const char* name, std::string_view wanted) {
    const char* value = variable(name);
    return value != nullptr && value == wanted;
}

} // namespace

Terminal terminal_of(int fd) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0) {
        return {};
    }
    // A terminal that does not know its width (a serial line, some CI) says 0.
    const int columns = size.ws_col == 0 ? 80 : size.ws_col;
    return {true, std::clamp(columns, 40, k_most_columns)};
}

bool wants_colour(ColourWish wish, const Terminal& terminal, const Variables& variable) {
    if (wish != ColourWish::Auto) {
        return wish == ColourWish::Always;
    }
    if (set(variable, "NO_COLOR")) {
        return false;
    }
    if (set(variable, "CLICOLOR_FORCE") && !is(variable, "CLICOLOR_FORCE", "0")) {
        return true;
    }
    if (is(variable, "CLICOLOR", "0") || is(variable, "TERM", "dumb")) {
        return false;
    }
    return terminal.is_terminal;
}

bool locale_is_utf8(const Variables& variable) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        if (set(variable, name)) {
            const std::string value = to_lower_ascii(variable(name));
            return value.find("utf-8") != std::string::npos ||
                   value.find("utf8") != std::string::npos;
        }
    }
    return false;
}

} // namespace cudaenv::cli
