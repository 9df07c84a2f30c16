#include "cli/commands/text_file.hpp"

#include "base/failed_call.hpp"
#include "base/fd.hpp"
#include "base/private_files.hpp"
#include "cli/output.hpp"
#include "solver/plan/printable.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

constexpr std::size_t k_most_bytes = std::size_t{16} << 20;

tl::unexpected<Error> failed(const char* code, const std::string& path, const std::string& what) {
    return tl::unexpected(Error{ErrorKind::Unavailable, code, what, path, 0, 0, {}});
}

tl::unexpected<Error> cannot_write(const std::string& path, int problem) {
    return failed("write-failed", path,
                  std::string("cannot be written: ") + std::strerror(problem));
}

bool make_directories_of(const std::string& file) {
    for (std::size_t slash = file.find('/', 1); slash != std::string::npos;
         slash = file.find('/', slash + 1)) {
        const std::string directory = file.substr(0, slash);
        struct stat status {};
        // Asked first: a read-only parent may refuse before it says that the directory exists.
        if (::stat(directory.c_str(), &status) != 0 && ::mkdir(directory.c_str(), 0755) != 0 &&
            errno != EEXIST) {
            return false;
        }
    }
    return true;
}

// The same owner and group as `status`, where that is another than a new file of ours gets.
bool give_back(int fd, const struct stat& status) {
    struct stat now {};
    if (::fstat(fd, &now) != 0) {
        return false;
    }
    return (now.st_uid == status.st_uid && now.st_gid == status.st_gid) ||
           ::fchown(fd, status.st_uid, status.st_gid) == 0;
}

Result<std::optional<std::string>> read_at(int directory, const std::string& name, int flags,
                                           const std::string& path) {
    const Fd fd(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
    if (!fd) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return std::optional<std::string>();
        }
        return failed("unreadable", path, std::string("cannot be read: ") + std::strerror(errno));
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) == 0 && !S_ISREG(status.st_mode)) {
        return failed("unreadable", path, "is no regular file");
    }
    std::string text;
    std::array<char, 16384> chunk{};
    ssize_t size = 0;
    while ((size = ::read(fd.get(), chunk.data(), chunk.size())) != 0) {
        if (size < 0) {
            if (errno == EINTR) {
                continue;
            }
            return failed("unreadable", path,
                          std::string("cannot be read: ") + std::strerror(errno));
        }
        text.append(chunk.data(), static_cast<std::size_t>(size));
        if (text.size() > k_most_bytes) {
            return failed("unreadable", path, "is larger than 16 MiB");
        }
    }
    return std::optional(std::move(text));
}

// `before` is what is there, if anything is; it is no link.
Result<void> write_at(int directory, const std::string& name, std::string_view text,
                      const std::optional<struct stat>& before, const std::string& path) {
    const std::string temporary = name + ".cudaenv-" + std::to_string(::getpid());
    Fd fd(::openat(directory, temporary.c_str(),
                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                   before ? 0600 : 0666)); // what was private is so at every moment
    if (!fd) {
        return cannot_write(path, errno);
    }
    // The owner first: changing it may clear bits of the mode.
    if (!write_all(fd.get(), text) || (before && !give_back(fd.get(), *before)) ||
        (before && ::fchmod(fd.get(), before->st_mode & 07777U) != 0) || ::fsync(fd.get()) != 0 ||
        ::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0) {
        const int problem = errno;
        ::unlinkat(directory, temporary.c_str(), 0);
        return cannot_write(path, problem);
    }
    return {};
}

// Root makes and changes nothing in what belongs to somebody else: a new file would be root's
// there, and a link of theirs would be followed.
Result<void> check_place_of_root(const std::string& path) {
    if (!is_anothers_place(path.substr(0, path.rfind('/')))) {
        return {};
    }
    auto refused = failed("anothers-home", path, "lies in a directory of another user's");
    refused.value().hint = "run it as that user, or as root with root's own HOME";
    return refused;
}

Result<void> remove_at(int directory, const std::string& name, const std::string& path) {
    if (::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT) {
        return failed("write-failed", path,
                      std::string("cannot be removed: ") + std::strerror(errno));
    }
    return {};
}

} // namespace

Result<std::optional<std::string>> read_whole_file(const std::string& path) {
    return read_at(AT_FDCWD, path, 0, path);
}

Result<std::vector<std::string>> names_in(const std::string& directory) {
    DIR* const stream = ::opendir(directory.c_str());
    if (stream == nullptr) {
        return failed("unreadable", directory,
                      std::string("cannot be listed: ") + std::strerror(errno));
    }
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    ::closedir(stream);
    std::ranges::sort(names);
    return names;
}

Result<void> write_whole_file(const std::string& path, std::string_view text) {
    CUDAENV_TRY_VOID(check_place_of_root(path));
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    struct stat link {};
    if (!exists && ::lstat(path.c_str(), &link) == 0) {
        return failed("dangling-link", path, "is a link that leads nowhere");
    }
    if (exists && ::access(path.c_str(), W_OK) != 0) {
        return cannot_write(path, errno);
    }
    if (!exists && !make_directories_of(path)) {
        return cannot_write(path, errno);
    }
    const std::unique_ptr<char, decltype(&std::free)> real(
        exists ? ::realpath(path.c_str(), nullptr) : nullptr, &std::free);
    return write_at(AT_FDCWD, real ? std::string(real.get()) : path, text,
                    exists ? std::optional(status) : std::nullopt, path);
}

Result<void> remove_file(const std::string& path) {
    CUDAENV_TRY_VOID(check_place_of_root(path));
    return remove_at(AT_FDCWD, path, path);
}

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
    return failed("foreign-owner", path,
                  "belongs to uid " + std::to_string(status.st_uid) +
                      ", neither to you nor to the environment's owner, and is left alone");
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
        return failed("is-a-link", path,
                      "is a link to " +
                          plan::printable({target.data(), size > 0 ? std::size_t(size) : 0}) +
                          ", which is not followed");
    }
    return check_owner(path, *status);
}

Result<std::optional<std::string>> EnvironmentFiles::read(const std::string& path) const {
    const std::string name = inner(path);
    if (name.empty()) {
        return read_whole_file(path);
    }
    const auto place = m_prefix.place(name);
    if (!place && place.error().code == k_not_found) {
        return std::optional<std::string>();
    }
    if (!place) {
        return tl::unexpected(place.error());
    }
    CUDAENV_TRY_VOID(check(path, *place));
    return read_at(place->directory.get(), place->name, O_NOFOLLOW, path);
}

Result<void> EnvironmentFiles::write(const std::string& path, std::string_view text) const {
    const std::string name = inner(path);
    if (name.empty()) {
        return write_whole_file(path, text);
    }
    CUDAENV_TRY_VOID(check_above(name));
    auto place = m_prefix.make_place(name);
    if (!place) {
        auto error = std::move(place).error();
        error.path = path;
        error.code = error.code == "outside" ? error.code : "write-failed";
        return tl::unexpected(std::move(error));
    }
    CUDAENV_TRY_VOID(check(path, *place));
    const auto before = place->status();
    if (before && ::faccessat(place->directory.get(), place->name.c_str(), W_OK, AT_EACCESS) != 0) {
        return cannot_write(path, errno);
    }
    return write_at(place->directory.get(), place->name, text, before, path);
}

Result<void> EnvironmentFiles::remove(const std::string& path, int directories) const {
    const std::string name = inner(path);
    if (name.empty()) {
        return remove_file(path);
    }
    CUDAENV_TRY_VOID(check_above(name));
    CUDAENV_TRY(const auto place, m_prefix.place(name));
    CUDAENV_TRY_VOID(check(path, place));
    CUDAENV_TRY_VOID(remove_at(place.directory.get(), place.name, path));
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

} // namespace cudaenv::cli
