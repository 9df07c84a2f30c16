// conda-meta/pinned as text: one MatchSpec a line. Pure. libmamba reads comments as specs, so no
// mark can stand in it: the constraints file remembers which lines are ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

struct PinnedRecord {
    std::vector<std::string> lines; // ours
    bool made = false;              // we created the file
    bool unended = false;           // its last line had no end
};
// As the constraints file has it.
PinnedRecord pinned_record(std::string_view constraints);

std::string without_pinned(std::string_view text, const PinnedRecord& record);

struct PinnedChange {
    std::optional<std::string> text; // nothing: no such file
    std::string record;              // whole lines for the constraints file
};
// A package that the user has pinned keeps the user's pin.
PinnedChange with_pinned(const std::optional<std::string>& plain, std::vector<std::string> lines,
                         bool of_conda);

} // namespace cudaenv::cli
