#include "daemon/probe/trial_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace cudaenv::daemon {

Result<TrialDirectory> TrialDirectory::make(const std::string& parent) {
    int problem = 0;
    for (const std::string& place : {parent, std::string("/tmp")}) {
        std::string path = place + "/cudaenv-probe-XXXXXX";
        if (!place.starts_with('/')) {
            continue;
        }
        if (::mkdtemp(path.data()) != nullptr) { // 0700
            return TrialDirectory(path);
        }
        problem = errno;
    }
    return unavailable("no-directory",
                       std::string("no directory can be made in /tmp: ") + std::strerror(problem));
}

TrialDirectory::TrialDirectory(TrialDirectory&& other) noexcept
    : m_path(std::exchange(other.m_path, {})) {}

TrialDirectory::~TrialDirectory() {
    if (!m_path.empty()) {
        std::error_code failed; // what a child that does not die still writes is left
        std::filesystem::remove_all(m_path, failed);
    }
}

} // namespace cudaenv::daemon
