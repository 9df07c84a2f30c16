// Where config.toml stands, read and changed: `cudaenv config list|get|set|path`.
// Law: a missing file is an empty one, and so is one that is not trusted; a change is written whole
// or not at all.
#pragma once

#include "base/result.hpp"
#include "base/whole_file.hpp"
#include "host/environment.hpp"
#include "host/trusted/trusted_file.hpp"
#include "solver/pins/config.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace cudaenv::project {

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

} // namespace cudaenv::project
