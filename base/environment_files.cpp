#include "base/environment_files.hpp"

#include "base/failed_call.hpp"
#include "base/shell_word.hpp"

#include <climits>

#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace cudaenv {

Result<EnvironmentFiles> EnvironmentFiles::open(const std::string& prefix) {
    CUDAENV_TRY(auto directory, PrefixDirectory::open(prefix));
    return EnvironmentFiles(std::move(directory));
}

std::string EnvironmentFiles::inner(const std::string& path) const {
    const std::string above = m_prefix.path() + '/';
    return path.starts_with(above) ? path.substr(above.size()) : std::string();
}

Result<void> EnvironmentFiles::check_owner(const std::string& path,
                                           const struct stat& status) const {
    struct stat prefix {};
    if (::fstat(m_prefix.fd(), &prefix) == 0 &&
        (status.st_uid == ::geteuid() || status.st_uid == 0 || status.st_uid == prefix.st_uid)) {
        return {};
    }
    return unavailable(
        "foreign-owner",
        "belongs to uid " + std::to_string(status.st_uid) +
            ", neither to you nor to the environment's owner, so it is left unchanged",
        {}, path);
}

// What is there of the directories above it.
Result<void> EnvironmentFiles::check_above(const std::string& name) const {
    for (auto slash = name.find('/'); slash != std::string::npos;
         slash = name.find('/', slash + 1)) {
        const auto place = m_prefix.place(name.substr(0, slash));
        const Fd directory(place ? ::openat(place->directory.get(), place->name.c_str(),
                                            O_PATH | O_DIRECTORY | O_CLOEXEC)
                                 : -1);
        struct stat status {};
        if (directory && ::fstat(directory.get(), &status) == 0) {
            CUDAENV_TRY_VOID(check_owner(m_prefix.path() + '/' + name.substr(0, slash), status));
        }
    }
    return {};
}

Result<void> EnvironmentFiles::check(const std::string& path, const Place& place) const {
    const auto status = place.status();
    if (!status) {
        return {};
    }
    if (S_ISLNK(status->st_mode)) {
        std::array<char, PATH_MAX> target{};
        const ssize_t size =
            ::readlinkat(place.directory.get(), place.name.c_str(), target.data(), target.size());
        return unavailable("is-a-link",
                           "is a link to " +
                               shell_word({target.data(), size > 0 ? std::size_t(size) : 0}) +
                               ", which is not followed",
                           {}, path);
    }
    return check_owner(path, *status);
}

Result<std::optional<std::string>> EnvironmentFiles::read(const std::string& path) const {
    const std::string name = inner(path);
    if (name.empty()) {
        return read_whole(path);
    }
    auto place = m_prefix.place(name);
    if (!place && place.error().code == k_not_found) {
        return std::optional<std::string>();
    }
    if (!place) {
        return at_path(path, std::move(place).error());
    }
    CUDAENV_TRY_VOID(check(path, *place));
    return read_whole(*place, path);
}

Result<void> EnvironmentFiles::write(const std::string& path, std::string_view text,
                                     const std::optional<std::string>& expected) const {
    const std::string name = inner(path);
    if (name.empty()) {
        CUDAENV_TRY_VOID(check_own_place(path));
        return replace_whole(path, text, expected);
    }
    CUDAENV_TRY_VOID(check_above(name));
    auto place = m_prefix.make_place(name);
    if (!place) {
        return at_path(path, std::move(place).error());
    }
    CUDAENV_TRY_VOID(check(path, *place));
    return replace_whole(*place, path, text, expected);
}

Result<FileEdit> EnvironmentFiles::edit(const std::string& path, const Edit& edit) const {
    CUDAENV_TRY(std::optional<std::string> before, read(path));
    CUDAENV_TRY(std::string after, edit(before));
    const bool differs = before.value_or("") != after;
    if (differs) {
        CUDAENV_TRY_VOID(write(path, after, before));
    }
    return FileEdit{std::move(before), std::move(after), differs};
}

Result<void> EnvironmentFiles::remove(const std::string& path, int directories) const {
    const std::string name = inner(path);
    if (name.empty()) {
        CUDAENV_TRY_VOID(check_own_place(path));
        CUDAENV_TRY(const Place own, place_of(path));
        return remove_whole(own, path);
    }
    CUDAENV_TRY_VOID(check_above(name));
    auto place = m_prefix.place(name);
    if (!place) {
        return place.error().code == k_not_found ? Result<void>() : at_path(path, place.error());
    }
    CUDAENV_TRY_VOID(check(path, *place));
    CUDAENV_TRY_VOID(remove_whole(*place, path));
    std::string above = name;
    for (; directories > 0 && above.find('/') != std::string::npos; --directories) {
        above.resize(above.rfind('/'));
        const auto directory = m_prefix.place(above);
        if (!directory ||
            ::unlinkat(directory->directory.get(), directory->name.c_str(), AT_REMOVEDIR) != 0) {
            break;
        }
    }
    return {};
}

} // namespace cudaenv
