// Finding the project file that counts for a directory.
//
// Law: the nearest cudaenv.toml upwards, not beyond the mount that holds the directory; only a file
// that nobody but the user or root can have written. One that is passed over is named with the
// reason.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cudaenv::project {

inline constexpr const char* k_project_file = "cudaenv.toml";
inline constexpr const char* k_local_file = "cudaenv.local.toml";

struct FoundProject {
    std::string directory;                 // absolute, symlinks resolved; raw bytes
    std::string file;                      // directory/cudaenv.toml
    std::optional<std::string> local_file; // directory/cudaenv.local.toml, when it may be read
};

struct SkippedFile {
    std::string path;
    std::string why;    // "is writable by everyone"
    std::string remedy; // "chmod o-w /p/cudaenv.toml"

    [[nodiscard]] std::string text() const; // one printable line
};

struct ProjectSearch {
    std::string start; // the directory asked about, symlinks resolved
    std::optional<FoundProject> found;
    std::vector<SkippedFile> skipped; // from the start upwards
};

// `user` is who is meant by "the user". Error: "no-directory" when the start cannot be resolved.
Result<ProjectSearch> find_project(const std::string& start_directory, uid_t user);

// Why a file at `path` may not be read as a project file, if so. Directories count up to their
// mount point: each belongs to the user or root, the file's own is not writable by everyone, those
// above it may be where they are sticky (as /tmp is).
std::optional<SkippedFile> reason_to_skip(const std::string& path, uid_t user);
// The same about a directory in which a project file would be made.
std::optional<SkippedFile> reason_to_skip_directory(const std::string& directory, uid_t user);

} // namespace cudaenv::project
