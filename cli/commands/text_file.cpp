#include "cli/commands/text_file.hpp"

#include "base/fd.hpp"
#include "cli/output.hpp"

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

} // namespace

Result<std::optional<std::string>> read_whole_file(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
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
    const std::string target = real ? std::string(real.get()) : path;
    const std::string temporary = target + ".cudaenv-" + std::to_string(::getpid());
    Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                 exists ? 0600 : 0666)); // what was private is so at every moment
    if (!fd) {
        return cannot_write(path, errno);
    }
    // The owner first: changing it may clear bits of the mode.
    if (!write_all(fd.get(), text) || (exists && !give_back(fd.get(), status)) ||
        (exists && ::fchmod(fd.get(), status.st_mode & 07777U) != 0) || ::fsync(fd.get()) != 0 ||
        ::rename(temporary.c_str(), target.c_str()) != 0) {
        const int problem = errno;
        ::unlink(temporary.c_str());
        return cannot_write(path, problem);
    }
    return {};
}

} // namespace cudaenv::cli
