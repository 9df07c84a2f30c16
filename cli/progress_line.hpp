// What is being waited for, in one line on standard error where that is a terminal. It is drawn
// over, and gone before anything else is written.
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

    // A terminal that can go back to a line's begin.
    static bool can_be_shown();

    void show(std::string_view text);
    void show(const protocol::Progress& progress);
    void clear();

private:
    bool m_shown = false;
};

} // namespace cudaenv::cli
