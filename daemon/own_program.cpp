#include "daemon/own_program.hpp"

#include <array>
#include <unistd.h>

namespace cudaenv::daemon {

OwnProgram::OwnProgram() {
    std::array<char, 4096> path{};
    const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
    // What /proc shows is what was started, whatever has been put at its path meanwhile.
    if (size > 0 && ::stat("/proc/self/exe", &m_status) == 0) {
        m_path.assign(path.data(), static_cast<std::size_t>(size));
    }
}

bool OwnProgram::replaced() const {
    struct stat now {};
    return !m_path.empty() &&
           (::stat(m_path.c_str(), &now) != 0 || now.st_ino != m_status.st_ino ||
            now.st_dev != m_status.st_dev || now.st_mtim.tv_sec != m_status.st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != m_status.st_mtim.tv_nsec);
}

} // namespace cudaenv::daemon
