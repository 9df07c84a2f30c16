#include "base/directory_names.hpp"

#include "base/fd.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>

namespace cudaenv {

namespace {

std::optional<std::vector<std::string>> names_of(Fd directory) {
    DIR* const stream = directory ? ::fdopendir(directory.get()) : nullptr;
    if (stream == nullptr) {
        return std::nullopt;
    }
    static_cast<void>(directory.release());
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    const int problem = errno;
    ::closedir(stream);
    if (problem != 0) {
        errno = problem;
        return std::nullopt;
    }
    std::ranges::sort(names);
    return names;
}

constexpr int k_listed = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

} // namespace

std::optional<std::vector<std::string>> names_in(const std::string& directory) {
    return names_of(Fd(::open(directory.c_str(), k_listed)));
}

std::optional<std::vector<std::string>> names_in(int directory) {
    return names_of(Fd(::openat(directory, ".", k_listed)));
}

} // namespace cudaenv
