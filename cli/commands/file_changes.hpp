// What `init`, `attach` and `detach` change in the user's files: as the object `cudaenv.change/1`,
// the note in a file that we created, our block, and the lines of conda-meta/pinned.
#pragma once

#include "base/result.hpp"
#include "cli/command_line.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

enum class FileChange {
    Written,
    Removed, // the file, or our part of it
    Kept,    // it was up to date
    Absent,  // there was nothing to remove
    Foreign, // not written by cudaenv: not changed
};

struct ChangedFile {
    std::string path;
    FileChange change = FileChange::Written;
};

struct FileChanges {
    std::string command; // "init"
    std::vector<ChangedFile> files;
    std::string next; // what to do or know now; may be empty
};

// Status 0. On standard output.
Result<int> show_file_changes(const FileChanges& changes, const OutputWishes& output);

// A file that we created says so in a comment, with the number of directories that were created for
// it: removing the file removes exactly these.

// The comment for the new text of `path`, whose content is `before`: the existing one, or a new one
// if there is no file. Empty: the file is the user's.
std::string creation_note(const std::string& path, const std::optional<std::string>& before);

// How many directories were created for the file; nothing if the text has no such comment.
std::optional<int> created_directories(std::string_view text);

// Removes up to `count` directories above `path`, as long as they are empty.
void remove_directories_above(std::string path, int count);

// A block of ours in the user's text, between two marker lines. Pure.
//
// Law: without_block(with_block(t, b)) == t for every t without a block; outside the block no byte
// changes; with_block twice is with_block once.

inline constexpr std::string_view k_block_begin = "# >>> cudaenv >>>";
inline constexpr std::string_view k_block_end = "# <<< cudaenv <<<";

// `lines` are whole lines without the markers `# >>> cudaenv >>>` and `# <<< cudaenv <<<`. Replaces
// an existing block in place, else appends one. Error "broken-block": a begin without an end, with
// its line.
Result<std::string> with_block(std::string_view text, std::string_view lines);
Result<std::string> without_block(std::string_view text);

// conda-meta/pinned as text: one MatchSpec a line. Pure. libmamba reads comments as specs, so no
// mark can stand in it: the constraints file remembers which lines are ours.
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
