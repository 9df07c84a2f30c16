#include "base/whole_io.hpp"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace cudaenv {

ssize_t read_full(int fd, char* into, std::size_t want, std::optional<std::uint64_t> offset) {
    std::size_t have = 0;
    while (have < want) {
        const ssize_t got =
            offset ? ::pread(fd, into + have, want - have, static_cast<off_t>(*offset + have))
                   : ::read(fd, into + have, want - have);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        have += static_cast<std::size_t>(got);
    }
    return static_cast<ssize_t>(have);
}

std::optional<std::string> read_rest(int fd, std::size_t most) {
    constexpr std::size_t k_step = std::size_t{16} * 1024;
    std::string text;
    while (text.size() < most) {
        const std::size_t have = text.size();
        const std::size_t want = std::min(std::max(k_step, have), most - have);
        text.resize(have + want);
        const ssize_t got = read_full(fd, text.data() + have, want);
        if (got < 0) {
            return std::nullopt;
        }
        text.resize(have + static_cast<std::size_t>(got));
        if (static_cast<std::size_t>(got) < want) {
            break;
        }
    }
    return text;
}

bool write_full(int fd, std::string_view bytes, std::optional<std::uint64_t> offset) {
    while (!bytes.empty()) {
        const ssize_t put =
            offset ? ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(*offset))
                   : ::write(fd, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(put));
        if (offset) {
            *offset += static_cast<std::uint64_t>(put);
        }
    }
    return true;
}

} // namespace cudaenv
