// A new file beside the one it is going to replace. Law: readers see the old file or the new one,
// whole; whatever happens, nothing stays beside it.
#pragma once

#include "base/fd.hpp"

#include <string>
#include <string_view>
#include <sys/types.h>

namespace cudaenv {

class TemporaryFile {
public:
    TemporaryFile() = default;
    // `name` is relative to the open `directory`, which must stay open. Where the file cannot be
    // created this is false and errno says why.
    TemporaryFile(int directory, std::string_view name, mode_t mode = 0600);
    TemporaryFile(TemporaryFile&& other) noexcept;
    TemporaryFile& operator=(TemporaryFile&& other) noexcept;
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    // Closes it, and removes what has its temporary name by then.
    ~TemporaryFile();

    [[nodiscard]] explicit operator bool() const { return !m_temporary.empty(); }
    [[nodiscard]] int fd() const { return m_fd.get(); }
    [[nodiscard]] Fd take_fd() { return std::move(m_fd); }
    [[nodiscard]] const std::string& name() const { return m_temporary; }
    // Renames it over the file; false, with errno, where that fails.
    bool replace();

    // Whether a name is one that this class gives: a leftover of a process that was killed.
    static bool is_temporary(std::string_view name);

private:
    int m_directory = -1;
    std::string m_name;
    std::string m_temporary; // empty: nothing to remove
    Fd m_fd;
};

} // namespace cudaenv
