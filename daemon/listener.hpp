// The socket on which this user's one daemon listens: claimed, watched, given up.
//
// Law: at most one process holds the claim (flock, before bind); the socket appears under its name
// already listening and with mode 0600 (temporary name, rename), in a directory that is the user's
// alone; what somebody else has put in its place is never removed.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"
#include "base/runtime_directory.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cudaenv::daemon {

class Listener {
public:
    // In the runtime directory, which is made where it is missing. Errors (Unavailable): those of
    // open_runtime_directory; "already-listening"; "remote-file-system", where neither flock nor a
    // socket is to be trusted; "cannot-listen".
    static Result<Listener> claim(const char* xdg_runtime_dir);
    // A socket that systemd listens on, passed as this descriptor. The claim is taken where it is
    // free, so that no other process binds beside it. Error: "cannot-listen" where it is no such
    // socket.
    static Result<Listener> inherited(int fd, const char* xdg_runtime_dir);

    [[nodiscard]] int socket() const { return m_socket.get(); } // non-blocking
    [[nodiscard]] const std::string& path() const { return m_path; }
    // Readable when something happened to socket, lock or directory; -1 where the system has no
    // watch left. Events are to be read and then forgotten: still_ours() says what is.
    [[nodiscard]] int watch() const { return m_watch.get(); }
    // A client that goes by the name still comes here, and nothing else can get in its way.
    [[nodiscard]] bool still_ours() const;
    // Removes the socket if it is still this one, listens no more and lets the claim go, in this
    // order: whoever comes next finds either this daemon or the place free.
    void release();

private:
    Listener() = default;
    void start_watching();

    RuntimeDirectory m_directory;
    Fd m_lock;
    Fd m_socket;
    Fd m_watch;
    std::string m_path;
    ino_t m_socket_inode = 0;
    ino_t m_lock_inode = 0;
    bool m_bound = false; // by us, not by systemd
};

// Who is at the other end of a connection, as the kernel says it.
//
// Law: only this user is served; and only a process that sees what the daemon sees: the same root
// and mounts (not a container that shares the runtime directory, not a shell with a /usr/local/cuda
// of its own), and the same groups.
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
