#include "cli/output.hpp"

#include "base/fd.hpp"
#include "solver/plan/printable.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

tl::unexpected<Error> cannot_write(const std::string& path, int problem) {
    return tl::unexpected(Error{ErrorKind::Unavailable,
                                "write-failed",
                                std::string("cannot be written: ") + std::strerror(problem),
                                path,
                                0,
                                0,
                                {}});
}

// The file that a symlink leads to: renaming over the link would cut it.
std::string followed(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    return real ? std::string(real.get()) : path;
}

} // namespace

Result<void> write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            if (errno == EPIPE) {
                return unavailable("reader-gone", "the reader of the output is gone");
            }
            return unavailable("write-failed", std::string("cannot write to standard output: ") +
                                                   std::strerror(errno));
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
    struct stat status {};
    // A name below /tmp, say, at which somebody has laid a link to a file of the user's.
    if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode) &&
        status.st_uid != ::geteuid() && status.st_uid != 0) {
        return tl::unexpected(Error{ErrorKind::Unavailable, "foreign-owner",
                                    "is a link of another user's to " +
                                        plan::printable(followed(path)) + ", and is not followed",
                                    path, 0, 0, "name another file"});
    }
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
        const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
        if (!fd || !write_all(fd.get(), text)) {
            return cannot_write(path, errno);
        }
        return {};
    }
    const std::string target = exists ? followed(path) : path;
    const std::string temporary = target + ".tmp" + std::to_string(::getpid());
    // What was private is so at every moment.
    Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? 0600 : 0666));
    if (!fd) {
        return cannot_write(path, errno);
    }
    if (!write_all(fd.get(), text) || ::fsync(fd.get()) != 0 ||
        (exists && ::fchmod(fd.get(), status.st_mode & 0777U) != 0) ||
        ::rename(temporary.c_str(), target.c_str()) != 0) {
        const int problem = errno;
        ::unlink(temporary.c_str());
        return cannot_write(path, problem);
    }
    return {};
}

} // namespace cudaenv::cli
