// The files that `init`, `attach` and `detach` changed, as the object `cudaenv.change/1`.
#pragma once

#include "base/result.hpp"
#include "cli/command_line.hpp"

#include <string>
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

} // namespace cudaenv::cli
