#include "check/repair/file_copy.hpp"

#include "base/fd.hpp"
#include "base/prefix_directory.hpp"
#include "base/raw_bytes.hpp"
#include "base/whole_io.hpp"
#include "check/inventory/sha256_file.hpp"

#include <climits>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/fs.h>
#include <memory>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cudaenv::repair {

namespace {

constexpr std::size_t k_block = std::size_t{1} << 20U;

Result<Fd> open_source(int directory, const std::string& name, struct stat& status) {
    // O_NONBLOCK: what was a file a moment ago may be a pipe now.
    Fd file(::openat(directory, name.c_str(),
                     O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!file || ::fstat(file.get(), &status) != 0) {
        return failed_on(errno, "cannot read", name);
    }
    if (!S_ISREG(status.st_mode)) {
        return unavailable("not-a-file", name + " is not a regular file");
    }
    return file;
}

Result<Fd> open_target(int directory, const std::string& name) {
    Fd file(::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                     0600));
    if (!file) {
        return failed_on(errno, "cannot write", name);
    }
    return file;
}

bool is_zero(const char* data, std::size_t size) {
    return data[0] == '\0' && std::memcmp(data, data + 1, size - 1) == 0;
}

// 0, or an errno. Blocks of zeros take no room.
int copy_bytes(int from, int to, const GoesOn& wanted) {
    const std::unique_ptr<char[]> memory(new char[k_block]);
    off_t size = 0;
    for (;;) {
        if (!goes_on(wanted)) {
            return ECANCELED;
        }
        const ssize_t got = read_full(from, memory.get(), k_block);
        if (got < 0) {
            return errno;
        }
        if (got == 0) {
            return ::ftruncate(to, size) == 0 ? 0 : errno;
        }
        const auto count = static_cast<std::size_t>(got);
        size += got;
        if (is_zero(memory.get(), count)) {
            if (::lseek(to, size, SEEK_SET) < 0) {
                return errno;
            }
        } else if (!write_full(to, {memory.get(), count})) {
            return errno;
        }
    }
}

int finish(int fd, mode_t mode, const timespec& modified) {
    const std::array<timespec, 2> times{modified, modified};
    // A time that cannot be set is no harm.
    (void)::futimens(fd, times.data());
    return ::fchmod(fd, mode & 0777U) == 0 ? 0 : errno;
}

} // namespace

Result<CopyWay> copy_file(int from_directory, const std::string& from, int to_directory,
                          const std::string& to, mode_t mode, const GoesOn& wanted) {
    struct stat status {};
    CUDAENV_TRY(const Fd source, open_source(from_directory, from, status));
    CUDAENV_TRY(const Fd target, open_target(to_directory, to));
    const bool shared = ::ioctl(target.get(), FICLONE, source.get()) == 0;
    int error = shared ? 0 : copy_bytes(source.get(), target.get(), wanted);
    if (error == 0) {
        error = finish(target.get(), mode, status.st_mtim);
    }
    if (error != 0) {
        ::unlinkat(to_directory, to.c_str(), 0);
        if (error == ECANCELED) {
            return stopped();
        }
        return failed_on(error, "cannot copy", from);
    }
    return shared ? CopyWay::Shared : CopyWay::Copied;
}

Result<void> write_file(int directory, const std::string& name, std::string_view content,
                        mode_t mode, const timespec& modified) {
    CUDAENV_TRY(const Fd target, open_target(directory, name));
    int error = write_full(target.get(), content) ? 0 : errno;
    if (error == 0) {
        error = finish(target.get(), mode, modified);
    }
    if (error != 0) {
        ::unlinkat(directory, name.c_str(), 0);
        return failed_on(error, "cannot write", name);
    }
    return {};
}

Result<std::string> read_file(int directory, const std::string& name, std::size_t limit) {
    struct stat status {};
    CUDAENV_TRY(const Fd source, open_source(directory, name, status));
    if (static_cast<std::uint64_t>(status.st_size) > limit) {
        return unavailable("too-large", name + " is too large");
    }
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    const ssize_t have = read_full(source.get(), text.data(), text.size());
    if (have != status.st_size) {
        return failed_on(have < 0 ? errno : EIO, "cannot read", name);
    }
    return text;
}

Result<std::string> read_link(int directory, const std::string& name) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(directory, name.c_str(), text.data(), text.size());
    if (size <= 0 || static_cast<std::size_t>(size) == text.size()) {
        return failed_on(size < 0 ? errno : ENAMETOOLONG, "cannot read", name);
    }
    return std::string(text.data(), static_cast<std::size_t>(size));
}

Result<facts::Sha256Digest> digest_of(int directory, const std::string& name,
                                      const GoesOn& wanted) {
    thread_local inventory::FileHasher hasher;
    struct stat status {};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return failed_on(errno, "cannot read", name);
    }
    if (!S_ISREG(status.st_mode)) {
        return unavailable("not-a-file", name + " is not a regular file");
    }
    return hasher.hash(directory, name.c_str(), FileIdentity::of(status), wanted);
}

std::string to_text(const facts::Sha256Digest& digest) {
    std::string bytes;
    for (const std::uint8_t byte : digest) {
        bytes += static_cast<char>(byte);
    }
    return to_hex(bytes);
}

} // namespace cudaenv::repair
