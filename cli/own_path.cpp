#include "cli/own_path.hpp"

#include <array>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

std::string own_path() {
    std::array<char, 4096> path{};
    const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
    if (size <= 0 || std::cmp_equal(size, path.size())) {
        return {};
    }
    std::string_view program(path.data(), static_cast<std::size_t>(size));
    // Replaced while it runs: the new one has the name.
    constexpr std::string_view k_replaced = " (deleted)";
    if (program.ends_with(k_replaced) && ::access(program.data(), F_OK) != 0) {
        program.remove_suffix(k_replaced.size());
    }
    return std::string(program);
}

} // namespace cudaenv::cli
