// Finding the project file that counts for a directory.
//
// Law: the nearest cudaenv.toml upwards, not beyond the mount that holds the directory; only one
// that is trusted. One that is passed over is named with the reason.
#pragma once

#include "base/result.hpp"
#include "host/trusted/trusted_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::project {

inline constexpr const char* k_project_file = "cudaenv.toml";
inline constexpr const char* k_local_file = "cudaenv.local.toml";

struct FoundProject {
    std::string directory; // absolute, symlinks resolved; raw bytes
    std::string file;      // directory/cudaenv.toml
    std::string text;
    std::optional<std::string> local_text; // of directory/cudaenv.local.toml, when it may be read

    [[nodiscard]] std::string local_file() const;
};

struct ProjectSearch {
    std::string start; // the directory asked about, symlinks resolved
    std::optional<FoundProject> found;
    std::vector<trusted::SkippedFile> skipped; // from the start upwards
};

// Error: "no-directory" when the start cannot be resolved.
Result<ProjectSearch> find_project(const std::string& start_directory, const trusted::Trust& trust);

} // namespace cudaenv::project
