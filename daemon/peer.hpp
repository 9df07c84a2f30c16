// Who is at the other end of a connection, as the kernel says it.
//
// Law: only this user is served; and only a process that sees what the daemon sees: the same root
// and mounts (not a container that shares the runtime directory, not a shell with a /usr/local/cuda
// of its own), and the same groups.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <sys/types.h>
#include <vector>

namespace cudaenv::daemon {

class Place {
public:
    // Of this process.
    static Place own();

    // Whether the socket's other end is this user's process at all.
    [[nodiscard]] static bool is_own_user(int socket);
    // "other-place" where what it sees differs or cannot be known; none where it is the same.
    [[nodiscard]] std::optional<Error> why_elsewhere(int socket) const;

private:
    std::optional<ino_t> m_mounts;
    std::optional<std::pair<dev_t, ino_t>> m_root;
    std::vector<gid_t> m_groups; // sorted, the effective one among them
};

} // namespace cudaenv::daemon
