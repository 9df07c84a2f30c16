#include "base/temporary_file.hpp"

#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

namespace cudaenv {

namespace {

constexpr std::string_view k_ending = ".tmp";

std::string temporary_name(std::string_view path) {
    std::uint64_t random = 0;
    // A name that is taken is refused, so a failure of getrandom only makes that likelier.
    static_cast<void>(::getrandom(&random, sizeof random, 0));
    std::string digits(16, '0');
    for (char& digit : digits) {
        digit = "0123456789abcdef"[random & 0xFU];
        random >>= 4U;
    }
    const std::size_t name = path.rfind('/') + 1; // 0 where there is no slash
    // Cut, so that a name of the longest allowed length still has room.
    return std::string(path.substr(0, name)) + '.' + std::string(path.substr(name, 200)) + '.' +
           digits + std::string(k_ending);
}

} // namespace

TemporaryFile::TemporaryFile(int directory, std::string_view name, mode_t mode)
    : m_directory(directory), m_name(name), m_temporary(temporary_name(name)),
      m_fd(::openat(directory, m_temporary.c_str(),
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)) {
    if (!m_fd) {
        m_temporary.clear();
    }
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : m_directory(other.m_directory), m_name(std::move(other.m_name)),
      m_temporary(std::exchange(other.m_temporary, {})), m_fd(std::move(other.m_fd)) {}

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
    std::swap(m_directory, other.m_directory);
    std::swap(m_name, other.m_name);
    std::swap(m_temporary, other.m_temporary);
    std::swap(m_fd, other.m_fd);
    return *this;
}

TemporaryFile::~TemporaryFile() {
    if (!m_temporary.empty()) {
        ::unlinkat(m_directory, m_temporary.c_str(), 0);
    }
}

bool TemporaryFile::replace() {
    if (::renameat(m_directory, m_temporary.c_str(), m_directory, m_name.c_str()) != 0) {
        return false;
    }
    m_temporary.clear();
    return true;
}

bool TemporaryFile::is_temporary(std::string_view name) {
    return name.starts_with('.') && name.ends_with(k_ending);
}

} // namespace cudaenv
