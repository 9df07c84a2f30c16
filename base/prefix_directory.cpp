#include "base/prefix_directory.hpp"

#include "base/as_owner.hpp"
#include "base/failed_call.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"

#include <climits>

#include <array>
#include <cerrno>
#include <fcntl.h>

namespace cudaenv {

namespace {

// Of an open directory, as the kernel has it; empty where that is unknown.
std::string path_of(int fd) {
    std::array<char, PATH_MAX> text{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
    return size > 0 && static_cast<std::size_t>(size) < text.size()
               ? std::string(text.data(), static_cast<std::size_t>(size))
               : std::string();
}

constexpr int k_directory = O_PATH | O_DIRECTORY | O_CLOEXEC;

} // namespace

bool is_inner_path(std::string_view path) {
    if (path.empty() || path.find('\0') != std::string_view::npos) {
        return false;
    }
    for (const auto component : split(path, '/')) {
        if (component.empty() || component == "." || component == "..") {
            return false;
        }
    }
    return true;
}

tl::unexpected<Error> failed_on(int error, std::string_view what, const std::string& path) {
    auto failed = failed_call(error).value();
    if (error == ENOSPC || error == EDQUOT) {
        failed.code = "no-space";
    }
    failed.message = std::string(what) + ' ' + shell_word(path) + ": " + std::move(failed.message);
    return tl::unexpected(std::move(failed));
}

std::optional<struct stat> Place::status() const {
    struct stat found {};
    return ::fstatat(directory.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0
               ? std::optional(found)
               : std::nullopt;
}

Result<PrefixDirectory> PrefixDirectory::open(const std::string& prefix) {
    PrefixDirectory made;
    made.m_fd.reset(::open(prefix.c_str(), k_directory));
    if (!made.m_fd) {
        return failed_on(errno, "cannot open", prefix);
    }
    made.m_path = prefix;
    made.m_real = path_of(made.m_fd.get());
    if (made.m_real.empty()) {
        return unavailable("no-proc", "the real path of " + shell_word(prefix) +
                                          " is unknown: /proc is not mounted");
    }
    return made;
}

bool PrefixDirectory::is_inside(int directory) const {
    const std::string path = path_of(directory);
    return m_real == "/" ? path.starts_with('/') : path == m_real || path.starts_with(m_real + '/');
}

Result<Place> PrefixDirectory::place(const std::string& path) const {
    if (!is_inner_path(path)) {
        return unavailable("outside", shell_word(path) + " is outside of the environment");
    }
    const auto slash = path.rfind('/');
    const std::string above = slash == std::string::npos ? "." : path.substr(0, slash);
    Place place{Fd(::openat(m_fd.get(), above.c_str(), k_directory)), path.substr(slash + 1)};
    if (!place.directory) {
        return failed_on(errno, "cannot open the directory of", path);
    }
    if (!is_inside(place.directory.get())) {
        return unavailable("outside", "a link on the way to " + shell_word(path) +
                                          " leads out of the environment, to " +
                                          shell_word(path_of(place.directory.get())));
    }
    return place;
}

Result<Place> PrefixDirectory::make_place(const std::string& path) const {
    auto found = place(path);
    if (found || found.error().code == "outside") {
        return found;
    }
    for (auto slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
        CUDAENV_TRY(const auto directory, place(path.substr(0, slash)));
        const AsOwner owner(directory.directory.get());
        if (::mkdirat(directory.directory.get(), directory.name.c_str(), 0777) != 0 &&
            errno != EEXIST) {
            return failed_on(errno, "cannot make the directory of", path);
        }
    }
    return place(path);
}

bool PrefixDirectory::is_writable(const std::string& directory) const {
    const std::string path = directory.empty() ? "." : directory;
    return ::faccessat(m_fd.get(), path.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

void PrefixDirectory::remove_empty(std::string directory, const std::string& last) const {
    while (directory.size() > last.size() && directory.starts_with(last + '/')) {
        const auto found = place(directory);
        if (!found || ::unlinkat(found->directory.get(), found->name.c_str(), AT_REMOVEDIR) != 0) {
            return;
        }
        directory.resize(directory.rfind('/'));
    }
}

} // namespace cudaenv
