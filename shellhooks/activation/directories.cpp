#include "shellhooks/activation/directories.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::activation {

std::string normal_directory(std::string_view directory) {
    std::string normal;
    for (const char c : directory) {
        if (c != '/' || normal.empty() || normal.back() != '/') {
            normal += c;
        }
    }
    if (normal.size() > 1 && normal.back() == '/') {
        normal.pop_back();
    }
    return normal;
}

bool lies_in(std::string_view path, std::string_view directory) {
    if (directory.empty() || !path.starts_with(directory)) {
        return false;
    }
    return path.size() == directory.size() || directory == "/" || path[directory.size()] == '/';
}

bool is_system_directory(std::string_view directory) {
    constexpr std::array k_alone = std::to_array<std::string_view>({
        "/",
        "/opt",
        "/usr",
        "/usr/local",
        "/usr/local/bin",
        "/usr/local/include",
        "/usr/local/lib",
        "/usr/local/lib64",
        "/usr/local/sbin",
    });
    constexpr std::array k_with_all_below = std::to_array<std::string_view>({
        "/bin",
        "/lib",
        "/lib32",
        "/lib64",
        "/libx32",
        "/sbin",
        "/usr/bin",
        "/usr/include",
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/libexec",
        "/usr/libx32",
        "/usr/sbin",
    });
    const std::string normal = normal_directory(directory);
    return std::ranges::find(k_alone, normal) != k_alone.end() ||
           std::ranges::any_of(k_with_all_below,
                               [&](std::string_view system) { return lies_in(normal, system); });
}

bool fits_on_a_list(std::string_view directory) {
    if (directory.empty() || directory.front() != '/' ||
        directory.find(':') != std::string_view::npos || is_system_directory(directory)) {
        return false;
    }
    const std::string normal = normal_directory(directory);
    const auto pieces = split(normal, '/');
    // .../lib64/stubs, .../compat, .../compat/lib
    const auto last = pieces.size() < 2 ? pieces.begin() : pieces.end() - 2;
    return std::none_of(
               last, pieces.end(),
               [](std::string_view piece) { return piece == "stubs" || piece == "compat"; }) &&
           std::ranges::none_of(
               pieces, [](std::string_view piece) { return piece == "." || piece == ".."; });
}

} // namespace cudaenv::activation
