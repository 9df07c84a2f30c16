// A private directory for what the build rungs write; gone with the value, whatever is in it.
//
// Law: it is locked (flock) for as long as it is used. One that no process holds is a killed
// process's: the next `make` in the same place removes it, if it is this user's own, private and
// named as ours are. No link is ever followed.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

#include <string>

namespace cudaenv::daemon {

class TrialDirectory {
public:
    // In `parent` where that is an absolute directory that can be written to, else in /tmp. Error
    // (Unavailable): "no-directory", with each place and why not there.
    static Result<TrialDirectory> make(const std::string& parent);

    TrialDirectory(TrialDirectory&& other) noexcept;
    TrialDirectory& operator=(TrialDirectory&&) = delete;
    TrialDirectory(const TrialDirectory&) = delete;
    TrialDirectory& operator=(const TrialDirectory&) = delete;
    ~TrialDirectory();

    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    TrialDirectory(std::string path, Fd held) : m_path(std::move(path)), m_held(std::move(held)) {}
    std::string m_path; // empty: moved away
    Fd m_held;          // locked; none where its file system has no locks
};

} // namespace cudaenv::daemon
