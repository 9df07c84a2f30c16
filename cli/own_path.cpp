#include "cli/own_path.hpp"

#include <array>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

std::string own_path() {
    std::array<char, 4096> path{};
    const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
    if (size <= 0 || std::cmp_equal(size, path.size())) {
        return {};
    }
    return {path.data(), static_cast<std::size_t>(size)};
}

} // namespace cudaenv::cli
