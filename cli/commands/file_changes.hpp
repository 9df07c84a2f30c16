// What a command did to which files: the object `cudaenv.change/1`, which `init`, `attach` and
// `detach` end in.
#pragma once

#include "base/result.hpp"
#include "cli/command_line.hpp"

#include <string>
#include <vector>

namespace cudaenv::cli {

enum class FileChange {
    Written,
    Removed, // the file, or our part of it
    Kept,    // it was so already
    Absent,  // there was nothing to remove
    Foreign, // somebody else's: left alone
};

struct ChangedFile {
    std::string path;
    FileChange change = FileChange::Written;
};

struct FileChanges {
    std::string command; // "init"
    std::vector<ChangedFile> files;
    std::string next; // what is worth doing or knowing now; may be empty
};

// Status 0. On standard output.
Result<int> show_file_changes(const FileChanges& changes, const OutputWishes& output);

} // namespace cudaenv::cli
