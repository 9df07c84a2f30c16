// A private directory for what the build rungs write; gone with the value, whatever is in it.
#pragma once

#include "base/result.hpp"

#include <string>

namespace cudaenv::daemon {

class TrialDirectory {
public:
    // In `parent` where that is an absolute directory that can be written to, else in /tmp. Error
    // (Unavailable): "no-directory".
    static Result<TrialDirectory> make(const std::string& parent);

    TrialDirectory(TrialDirectory&& other) noexcept;
    TrialDirectory& operator=(TrialDirectory&&) = delete;
    TrialDirectory(const TrialDirectory&) = delete;
    TrialDirectory& operator=(const TrialDirectory&) = delete;
    ~TrialDirectory();

    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    explicit TrialDirectory(std::string path) : m_path(std::move(path)) {}
    std::string m_path; // empty: moved away
};

} // namespace cudaenv::daemon
