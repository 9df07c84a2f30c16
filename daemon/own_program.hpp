// The program that this process runs, on its disk.
#pragma once

#include <string>
#include <sys/stat.h>

namespace cudaenv::daemon {

class OwnProgram {
public:
    OwnProgram(); // as it is now
    // Whether another file, or none, is at its path since then: one stat.
    [[nodiscard]] bool replaced() const;

private:
    std::string m_path; // empty where /proc is not there: then never replaced
    struct stat m_status {};
};

} // namespace cudaenv::daemon
