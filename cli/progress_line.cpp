#include "cli/progress_line.hpp"

#include "cli/output.hpp"
#include "cli/terminal.hpp"

#include <cstdlib>
#include <string>
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

} // namespace cudaenv::cli
