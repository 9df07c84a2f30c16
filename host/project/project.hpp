// Everything that pins and settings say about one directory and one shell: found, read, merged.
// Law: reads only; every pin and setting carries the file and line it comes from.
#pragma once

#include "base/result.hpp"
#include "base/whole_file.hpp"
#include "host/environment.hpp"
#include "host/trusted/trusted_file.hpp"
#include "solver/pins/config.hpp"
#include "solver/pins/pin_layers.hpp"
#include "solver/pins/project_file.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace cudaenv::project {

// Where config.toml stands, read and changed: `cudaenv config list|get|set|path`.
// Law: a missing file is an empty one, and so is one that is not trusted; a change is written whole
// or not at all.
struct ConfigPaths {
    std::string system = "/etc/cudaenv/config.toml";
    // $CUDAENV_CONFIG_DIR, $XDG_CONFIG_HOME/cudaenv or ~/.config/cudaenv, then config.toml; empty
    // when none of the three variables is an absolute path.
    std::string user;
};
ConfigPaths config_paths(const host::Environment& environment);

struct ConfigFiles {
    std::optional<pins::ConfigFile> system;
    std::optional<pins::ConfigFile> user;
    std::vector<trusted::SkippedFile> skipped; // that somebody else can have written
};
Result<ConfigFiles> load_config(const ConfigPaths& paths,
                                pins::UnknownKeys unknown = pins::UnknownKeys::Refuse,
                                uid_t user = ::geteuid());

// Edits the user's file, making it and its directories (mode 0700) when they are missing. Returns
// its path. Errors: "no-home", those of edit_config and edit_user_config.
Result<std::string> change_config(const ConfigPaths& paths, std::string_view key,
                                  pins::ConfigAction action, std::span<const std::string> words);

// Edits the user's file. `makes_it`: its directories (mode 0700, as XDG asks) and the file are made
// where they are missing. Errors: those of edit_whole, "anothers-home" where root would write in a
// directory of another user's, "unsafe-place" where the file would be passed over afterwards: what
// somebody else has written there does not become the user's own.
Result<FileEdit> edit_user_config(const std::string& path, const Edit& edit, bool makes_it);

// Finding the project file that counts for a directory.
//
// Law: the nearest cudaenv.toml upwards, not beyond the mount that holds the directory; only one
// that is trusted. One that is passed over is named with the reason.

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

struct LoadOptions {
    std::string prefix; // -p; empty: the active environment
    // Note: the prompt's way. A pin file that cannot be read is a note as well, and counts as
    // absent.
    pins::UnknownKeys unknown = pins::UnknownKeys::Refuse;
    uid_t user = ::geteuid();
    std::optional<ConfigPaths> config;       // instead of those of the environment
    std::optional<ConfigFiles> config_files; // already read, with the same `unknown`
};

struct LoadedProject {
    ProjectSearch search;
    std::string prefix; // the environment meant; empty when none is
    std::optional<pins::ProjectFile> project;
    std::optional<pins::ProjectFile> local;
    std::optional<pins::ProjectFile> environment; // the environment's own pins
    ConfigFiles config_files;
    std::vector<trusted::SkippedFile> skipped; // of all of these
    pins::Config config;
    pins::EffectivePins pins;
    std::vector<std::string>
        notes; // files passed over, unknown keys, locked settings; one line each
};

// Whose project files count: the user's, with the groups of the user's and the administrator's
// settings.
trusted::Trust trust_of(uid_t user, const ConfigFiles& files);

// Errors: those of the files ("bad-toml", "unknown-pin", ...), "bad-version" and others for
// CUDAENV_CUDA, "no-directory".
Result<LoadedProject> load_project(const std::string& directory,
                                   const host::Environment& environment,
                                   const LoadOptions& options = {});

// The active environment: of VIRTUAL_ENV and CONDA_PREFIX the one whose bin comes first on PATH.
std::string active_prefix(const host::Environment& environment);

// Where an environment keeps its own pins: conda-meta/cudaenv.toml, or cudaenv.toml beside a venv's
// pyvenv.cfg. Nothing where `prefix` is neither kind of environment.
std::optional<std::string> pin_file_of(const std::string& prefix);

} // namespace cudaenv::project
