// Which files of CUDA's were mapped into this process while the ladder was climbed: what a verdict
// rests on, also where a library was needed by another one, or opened by it.
#pragma once

#include "kernels/ladder_request.hpp"

#include <set>
#include <string>
#include <vector>

namespace cudaenv::kernels {

class LoadedLibraries {
public:
    explicit LoadedLibraries(const LadderLibraries& asked_for);

    // What is mapped now; again before something is unloaded. Only what the loader holds is read.
    void look();
    // Real paths, sorted: what CUDA's libraries are named like, and what lies beside those that
    // were asked for (not beside the C library: that is the system's directory). At most 64, those
    // of CUDA's names first.
    [[nodiscard]] std::vector<std::string> files() const;

private:
    std::set<std::string> m_directories;
    std::set<std::string> m_named;
    std::set<std::string> m_beside;
};

} // namespace cudaenv::kernels
