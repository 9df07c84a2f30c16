#include "cli/progress_line.hpp"

#include "base/text.hpp"
#include "cli/report.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

constexpr std::string_view k_erase = "\r\x1b[K";

std::string text_of(const protocol::Progress& progress) {
    if (progress.step == "build") {
        return "building with nvcc ...";
    }
    if (progress.step == "torch-extension") {
        return "building a torch extension ...";
    }
    if (progress.step == "files") {
        return "comparing files with their records ...";
    }
    if (progress.step == "copies") {
        return "copying files ...";
    }
    std::string text = "probing " + progress.step;
    if (progress.gpu) {
        text += ", gpu " + std::to_string(*progress.gpu);
    }
    return text + " ...";
}

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

bool ProgressLine::can_be_shown() {
    const char* term = std::getenv("TERM");
    return term != nullptr && *term != '\0' && std::string_view(term) != "dumb" &&
           terminal_of(STDERR_FILENO).is_terminal;
}

void ProgressLine::show(std::string_view text) {
    const auto width = static_cast<std::size_t>(terminal_of(STDERR_FILENO).columns) - 1;
    m_shown = true;
    static_cast<void>(
        write_all(STDERR_FILENO, std::string(k_erase) + std::string(text.substr(0, width))));
}

void ProgressLine::show(const protocol::Progress& progress) {
    show(text_of(progress));
}

void ProgressLine::clear() {
    if (m_shown) {
        m_shown = false;
        static_cast<void>(write_all(STDERR_FILENO, std::string(k_erase)));
    }
}

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
