// Everything that pins and settings say about one directory and one shell: found, read, merged.
// Law: reads only; every pin and setting carries the file and line it comes from.
#pragma once

#include "base/result.hpp"
#include "host/environment.hpp"
#include "host/project/config_files.hpp"
#include "host/project/project_search.hpp"
#include "solver/pins/config.hpp"
#include "solver/pins/pin_layers.hpp"
#include "solver/pins/project_file.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace cudaenv::project {

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
