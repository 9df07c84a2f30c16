// One line on standard error, if that is a terminal, that says what is being waited for. It is
// redrawn in place, and erased before anything else is written.
#pragma once

#include "protocol/message.hpp"

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

} // namespace cudaenv::cli
