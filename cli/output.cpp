#include "cli/output.hpp"

#include "base/fd.hpp"
#include "base/whole_file.hpp"
#include "base/whole_io.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

tl::unexpected<Error> cannot_write(const std::string& path, int problem) {
    return unavailable("write-failed", std::string("cannot be written: ") + std::strerror(problem),
                       {}, path);
}

} // namespace

Result<void> write_all(int fd, std::string_view text) {
    if (!write_full(fd, text)) {
        return errno == EPIPE
                   ? unavailable("reader-gone", "the program that read the output has exited")
                   : unavailable("write-failed", std::string("cannot write to standard output: ") +
                                                     std::strerror(errno));
    }
    return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        // Another user's pipe may never have a reader.
        const bool anothers = status.st_uid != ::geteuid() && status.st_uid != 0;
        const Fd fd(
            ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | (anothers ? O_NONBLOCK : 0)));
        if (!fd || !write_all(fd.get(), text)) {
            return cannot_write(path, errno);
        }
        return {};
    }
    CUDAENV_TRY_VOID(edit_whole(path, [&](const auto&) { return Result<std::string>(text); }));
    return {};
}

} // namespace cudaenv::cli
