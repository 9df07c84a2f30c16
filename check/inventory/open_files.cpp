#include "check/inventory/open_files.hpp"

#include "base/directory_names.hpp"
#include "base/failed_call.hpp"
#include "base/file_identity.hpp"
#include "base/whole_io.hpp"
#include "check/inventory/metadata_text.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::inventory {

namespace {

struct OpenFile {
    Fd fd;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
};

Result<OpenFile> open_file(int directory, const std::string& name) {
    // O_NONBLOCK: a fifo put where a file is expected must not hold us.
    OpenFile file{Fd(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
    if (!file.fd) {
        return failed_call(errno);
    }
    struct stat found {};
    if (::fstat(file.fd.get(), &found) != 0) {
        return failed_call(errno);
    }
    if (!S_ISREG(found.st_mode)) {
        return unavailable("not-a-file", "is not a regular file");
    }
    file.size = static_cast<std::uint64_t>(found.st_size);
    file.modified_ns = nanoseconds(found.st_mtim);
    file.changed_ns = nanoseconds(found.st_ctim);
    return file;
}

// Bytes got, fewer than asked for only at the file's end.
Result<std::size_t> read_into(int fd, char* into, std::size_t want) {
    const ssize_t have = read_full(fd, into, want);
    if (have < 0) {
        return failed_call(errno);
    }
    return static_cast<std::size_t>(have);
}

} // namespace

Result<OpenDirectory> OpenDirectory::open_at(int above, const std::string& name) {
    Fd fd(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) {
        return failed_call(errno);
    }
    struct stat found {};
    if (::fstat(fd.get(), &found) != 0) {
        return failed_call(errno);
    }
    return OpenDirectory(std::move(fd), nanoseconds(found.st_mtim));
}

Result<OpenDirectory> OpenDirectory::open(const std::string& name) {
    return open_at(AT_FDCWD, name);
}

Result<OpenDirectory> OpenDirectory::open_below(const std::string& name) const {
    return open_at(m_fd.get(), name);
}

Result<std::vector<std::string>> OpenDirectory::names() const {
    auto names = names_in(m_fd.get());
    if (!names) {
        return failed_call(errno);
    }
    return *std::move(names);
}

bool OpenDirectory::has(const std::string& name) const {
    return ::faccessat(m_fd.get(), name.c_str(), F_OK, 0) == 0;
}

void FileTexts::make_room(std::size_t size, std::size_t keep) {
    if (size <= m_room) {
        return;
    }
    const auto room = std::max(size, 2 * m_room);
    std::unique_ptr<char[]> larger(new char[room]);
    std::copy_n(m_memory.get(), keep, larger.get());
    m_memory = std::move(larger);
    m_room = room;
}

Result<FileText> FileTexts::read(const OpenDirectory& in, const std::string& name,
                                 std::size_t limit) {
    CUDAENV_TRY(const auto file, open_file(in.fd(), name));
    if (file.size > limit) {
        return unavailable("too-large", "is larger than " + std::to_string(limit >> 10U) + " KiB");
    }
    const auto size = static_cast<std::size_t>(file.size);
    make_room(size, 0);
    CUDAENV_TRY(const auto have, read_into(file.fd.get(), m_memory.get(), size));
    return FileText{std::string_view(m_memory.get(), have), file.modified_ns, file.changed_ns,
                    false};
}

Result<FileText> FileTexts::read_headers(const OpenDirectory& in, const std::string& name,
                                         std::size_t limit) {
    CUDAENV_TRY(const auto file, open_file(in.fd(), name));
    constexpr std::size_t k_first = std::size_t{16} << 10U;
    std::size_t have = 0;
    for (std::size_t want = k_first;; want *= 4) {
        want = std::min({want, limit, std::max<std::size_t>(file.size, 1)});
        make_room(want, have);
        CUDAENV_TRY(const auto got, read_into(file.fd.get(), m_memory.get() + have, want - have));
        const std::string_view text(m_memory.get(), have + got);
        if (const auto end = end_of_headers(text, have); end != std::string_view::npos) {
            return FileText{text.substr(0, end), file.modified_ns, file.changed_ns, false};
        }
        have += got;
        if (have < want || have >= file.size || have >= limit) {
            return FileText{text, file.modified_ns, file.changed_ns, have < file.size};
        }
    }
}

} // namespace cudaenv::inventory
