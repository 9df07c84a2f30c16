// `activate.constraints = "env"`: PREFIX/etc/cudaenv/constraints.txt, PREFIX/pip.conf, which names
// it, and PREFIX/conda-meta/pinned.
//
// Law: every obstacle is reported before anything is written; removal leaves each file as it was,
// with the user's changes since then.
#pragma once

#include "base/result.hpp"
#include "cli/commands/file_changes.hpp"
#include "cli/commands/named_environment.hpp"
#include "protocol/caller.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::cli {

struct FileText {
    std::string path;
    std::optional<std::string> before;
    std::optional<std::string> after; // nothing: no such file
};

struct ConstraintsFiles {
    bool wanted = false;  // by the setting
    bool nothing = false; // to constrain: torch is neither installed nor pinned
    // In the order of writing: pip.conf never names a file that does not exist.
    std::vector<FileText> files;
};

// What attach would write, or remove if the setting is off; nothing is written yet. Errors, if the
// setting is on: "no-pip", "old-pip", "read-only-environment", "constraint-taken",
// "unusable-prefix".
Result<ConstraintsFiles> planned_constraints(const NamedEnvironment& environment,
                                             const protocol::Caller& caller);
// What detach removes.
Result<ConstraintsFiles> without_constraints(const NamedEnvironment& environment);

Result<void> write_constraints(const NamedEnvironment& environment, const ConstraintsFiles& planned,
                               FileChanges& changes);

} // namespace cudaenv::cli
