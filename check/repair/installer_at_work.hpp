// Whether an installer is at work in an environment: what it has moved aside is its way back. As
// far as this user's processes tell it: one of another user or machine is not seen.
#pragma once

#include <optional>
#include <string>

namespace cudaenv::repair {

struct InstallerAtWork {
    std::string name; // "pip"
    std::string process;
};

// `prefix`: absolute.
std::optional<InstallerAtWork> installer_at_work(const std::string& prefix);

} // namespace cudaenv::repair
