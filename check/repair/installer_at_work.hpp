// Whether an installer is at work in an environment: what it has moved aside is its way back, and
// what it has not written yet is not missing. Law: a path counts by the directory that it leads to
// in the process's own mount namespace, not by its text; a process whose files this user may not
// see is not seen, nor is one on another machine.
#pragma once

#include <optional>
#include <string>

namespace cudaenv::repair {

struct InstallerAtWork {
    std::string name; // "pip"
    std::string process;
};

// By its command (pip, uv, conda, ...) and where it runs: program, working directory, arguments,
// variables; or by what it is writing among the packages, whatever it is called. `prefix`:
// absolute. 20 us a process.
std::optional<InstallerAtWork> installer_at_work(const std::string& prefix);

} // namespace cudaenv::repair
