// conda-meta/pinned as text: one MatchSpec a line. Pure. Not every reader of it knows comments
// (libmamba takes each line for a spec), so that nothing can mark ours in it: the constraints file
// beside it remembers them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

struct PinnedRecord {
    std::vector<std::string> lines; // ours
    bool made = false;              // there was no such file before
    bool unended = false;           // its last line had no end
};
// As the constraints file has it.
PinnedRecord pinned_record(std::string_view constraints);

std::string without_pinned(std::string_view text, const PinnedRecord& record);

struct PinnedChange {
    std::optional<std::string> text; // none: no such file
    std::string record;              // whole lines for the constraints file
};
// A package that the user has pinned is left to the user.
PinnedChange with_pinned(const std::optional<std::string>& plain, std::vector<std::string> lines,
                         bool of_conda);

} // namespace cudaenv::cli
