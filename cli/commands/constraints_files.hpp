// `activate.constraints = "env"`: PREFIX/etc/cudaenv/constraints.txt, PREFIX/pip.conf, which names
// it, and PREFIX/conda-meta/pinned.
//
// Law: whatever speaks against it is said before anything is written; what is taken out leaves each
// file as it was, with what the user has changed since.
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
    std::optional<std::string> after; // none: no such file
};

struct ConstraintsFiles {
    bool wanted = false;  // by the setting
    bool nothing = false; // to hold: no torch and no pin of one
    // In the order in which they are written: at no time does pip.conf name a file that is not
    // there.
    std::vector<FileText> files;
};

// What attach would write, or take out where the setting is off: nothing is written yet. Errors,
// where the setting is on: "no-pip", "old-pip", "read-only-environment", "constraint-taken",
// "unusable-prefix".
Result<ConstraintsFiles> planned_constraints(const NamedEnvironment& environment,
                                             const protocol::Caller& caller);
// What detach takes out.
Result<ConstraintsFiles> without_constraints(const NamedEnvironment& environment);

Result<void> write_constraints(const NamedEnvironment& environment, const ConstraintsFiles& planned,
                               FileChanges& changes);

} // namespace cudaenv::cli
