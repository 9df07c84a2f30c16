// Reading many small files of few directories: by name in an open directory, so that the path is
// walked once, into memory that is kept. Reads only; never waits on what is not a regular file.
// Not through FileSystem: that port asks for whole paths, and 2,000 of them take longer than all
// else.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::inventory {

// Codes of failures are those of host/file_system.hpp, and "too-large", "not-a-file".
class OpenDirectory {
public:
    // `name` as seen from `above`, or absolute. Follows symlinks.
    static Result<OpenDirectory> open(const std::string& name);
    [[nodiscard]] Result<OpenDirectory> open_below(const std::string& name) const;

    // Without . and .., sorted.
    [[nodiscard]] Result<std::vector<std::string>> names() const;
    [[nodiscard]] std::int64_t modified_ns() const { return m_modified_ns; }
    [[nodiscard]] bool has(const std::string& name) const;
    [[nodiscard]] int fd() const { return m_fd.get(); }

private:
    OpenDirectory(Fd fd, std::int64_t modified_ns)
        : m_fd(std::move(fd)), m_modified_ns(modified_ns) {}
    static Result<OpenDirectory> open_at(int above, const std::string& name);

    Fd m_fd;
    std::int64_t m_modified_ns = 0;
};

struct FileText {
    std::string_view text; // good until the next read
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0; // of its content or name; cannot be set
    bool cut = false;            // there are more headers
};

// One for each thread.
class FileTexts {
public:
    // The whole of a file of at most `limit` bytes.
    Result<FileText> read(const OpenDirectory& in, const std::string& name, std::size_t limit);
    // A file's beginning, up to `limit` and no further than the first empty line needs.
    Result<FileText> read_headers(const OpenDirectory& in, const std::string& name,
                                  std::size_t limit);

private:
    void make_room(std::size_t size, std::size_t keep);

    std::unique_ptr<char[]> m_memory; // not a std::string, which would be filled before each read
    std::size_t m_room = 0;
};

} // namespace cudaenv::inventory
