#include "daemon/listener.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

namespace cudaenv::daemon {

namespace {

constexpr int k_backlog = 64;

// statfs(2) and the file systems' own sources, by name: nfs, smb, smb2, cifs, afs, ceph, gpfs,
// lustre, beegfs, panfs, 9p.
constexpr auto k_remote_file_systems =
    std::to_array<unsigned long>({0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x5346414f, 0x00c36400,
                                  0x47504653, 0x0bd00bd0, 0x19830326, 0xaad7aaea, 0x01021997});

tl::unexpected<Error> cannot_listen(const std::string& path, const std::string& what, int problem) {
    return unavailable("cannot-listen", path + ": " + what + ": " + std::strerror(problem), {},
                       path);
}

tl::unexpected<Error> already_listening(const std::string& path) {
    return unavailable("already-listening", "another daemon listens on " + path);
}

bool is_remote(int fd) {
    struct statfs status {};
    return ::fstatfs(fd, &status) == 0 &&
           std::ranges::find(k_remote_file_systems,
                             static_cast<unsigned long>(status.f_type) & 0xffffffffUL) !=
               k_remote_file_systems.end();
}

// A name in the directory that was checked, as a path; sun_path holds 107 bytes.
std::string entry_path(const RuntimeDirectory& directory, const std::string& name) {
    std::string path = directory.path + '/' + name;
    if (path.size() < sizeof(sockaddr_un::sun_path)) {
        return path;
    }
    return "/proc/self/fd/" + std::to_string(directory.fd.get()) + '/' + name;
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
}

bool somebody_listens(const std::string& path) {
    const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_of(path);
    return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
           errno == EAGAIN; // its queue is full
}

ino_t inode_at(const RuntimeDirectory& directory, const char* name) {
    struct stat status {};
    return ::fstatat(directory.fd.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino
                                                                                  : 0;
}

// The claim: an open lock file that is still the one of its name. Empty where another has it.
Result<Fd> take_lock(const RuntimeDirectory& directory) {
    Fd lock(::openat(directory.fd.get(), k_lock_name,
                     O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    struct stat status {};
    if (!lock || ::fstat(lock.get(), &status) != 0) {
        return cannot_listen(directory.path, std::string("cannot open ") + k_lock_name, errno);
    }
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) {
        return cannot_listen(directory.path, k_lock_name, EPERM);
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return Fd();
        }
        return cannot_listen(directory.path, std::string("cannot lock ") + k_lock_name, errno);
    }
    if (inode_at(directory, k_lock_name) != status.st_ino) {
        return Fd(); // removed while we opened it: whoever made the new one has it
    }
    // For people, and for `cudaenv daemon stop` where the daemon does not answer. A full disk does
    // not matter: the lock is the claim, not the number in it.
    const std::string pid = std::to_string(::getpid()) + '\n';
    if (::ftruncate(lock.get(), 0) != 0 || ::pwrite(lock.get(), pid.data(), pid.size(), 0) < 0) {
        return lock;
    }
    return lock;
}

std::optional<struct stat> status_of(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

std::optional<ino_t> mounts_of(const std::string& process) {
    const auto status = status_of("/proc/" + process + "/ns/mnt");
    return status ? std::optional(status->st_ino) : std::nullopt;
}

std::optional<std::pair<dev_t, ino_t>> root_of(const std::string& process) {
    const auto status = status_of("/proc/" + process + "/root");
    return status ? std::optional(std::pair(status->st_dev, status->st_ino)) : std::nullopt;
}

std::vector<gid_t> with(std::vector<gid_t> groups, gid_t effective) {
    groups.push_back(effective);
    std::ranges::sort(groups);
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    return groups;
}

std::optional<ucred> credentials(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? std::optional(peer)
                                                                            : std::nullopt;
}

Error elsewhere(const char* what) {
    return unavailable("other-place",
                       std::string("the daemon was started where ") + what + " than here")
        .value();
}

} // namespace

Result<Listener> Listener::claim(const char* xdg_runtime_dir) {
    Listener listener;
    CUDAENV_TRY(listener.m_directory,
                open_runtime_directory(xdg_runtime_dir, ::geteuid(), IfMissing::Make));
    const RuntimeDirectory& directory = listener.m_directory;
    listener.m_path = directory.path + '/' + k_socket_name;
    if (is_remote(directory.fd.get())) {
        return unavailable("remote-file-system", directory.path + " is on a network file system");
    }
    CUDAENV_TRY(listener.m_lock, take_lock(directory));
    const std::string path = entry_path(directory, k_socket_name);
    // A listener without the lock is systemd's.
    if (!listener.m_lock || somebody_listens(path)) {
        return already_listening(listener.m_path);
    }
    const std::string temporary = ".daemon." + std::to_string(::getpid());
    const std::string temporary_path = entry_path(directory, temporary);
    listener.m_socket = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_of(temporary_path);
    // One that died with this number may have left it.
    ::unlinkat(directory.fd.get(), temporary.c_str(), 0);
    const mode_t before = ::umask(0177);
    const int bound = ::bind(listener.m_socket.get(), reinterpret_cast<const sockaddr*>(&address),
                             sizeof address);
    const int problem = errno;
    ::umask(before);
    if (bound != 0) {
        return cannot_listen(listener.m_path, "cannot bind", problem);
    }
    if (::listen(listener.m_socket.get(), k_backlog) != 0 ||
        ::renameat(directory.fd.get(), temporary.c_str(), directory.fd.get(), k_socket_name) != 0) {
        const int failed = errno;
        ::unlinkat(directory.fd.get(), temporary.c_str(), 0);
        return cannot_listen(listener.m_path, "cannot listen", failed);
    }
    listener.m_bound = true;
    listener.start_watching();
    return listener;
}

Result<Listener> Listener::inherited(int fd, const char* xdg_runtime_dir) {
    const auto option = [&](int name) {
        int value = -1;
        socklen_t size = sizeof value;
        return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
    };
    if (option(SO_DOMAIN) != AF_UNIX || option(SO_TYPE) != SOCK_STREAM ||
        option(SO_ACCEPTCONN) != 1) {
        return unavailable("cannot-listen", "the descriptor passed by systemd is not a "
                                            "listening stream socket of this machine");
    }
    Listener listener;
    listener.m_socket = Fd(fd);
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    sockaddr_un address{};
    socklen_t size = sizeof address;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
        listener.m_path = address.sun_path;
    }
    auto directory = open_runtime_directory(xdg_runtime_dir, ::geteuid(), IfMissing::Make);
    if (directory && directory->path + '/' + k_socket_name == listener.m_path) {
        listener.m_directory = std::move(*directory);
        if (auto lock = take_lock(listener.m_directory)) {
            listener.m_lock = *std::move(lock);
        }
        listener.start_watching();
    }
    return listener;
}

// Three watches on what there is, none on what others do in the directory: stamps come and go
// there, and wake nothing.
void Listener::start_watching() {
    m_socket_inode = inode_at(m_directory, k_socket_name);
    m_lock_inode = m_lock ? inode_at(m_directory, k_lock_name) : 0;
    m_watch = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!m_watch) {
        return;
    }
    // A name that is removed or replaced shows as a changed link count (IN_ATTRIB) of an inode that
    // lives on while it is open.
    const auto watch = [&](const std::string& name) {
        const std::string path = "/proc/self/fd/" + std::to_string(m_directory.fd.get()) +
                                 (name.empty() ? "/." : "/" + name);
        ::inotify_add_watch(m_watch.get(), path.c_str(),
                            IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF |
                                (name.empty() ? IN_ONLYDIR : IN_DONT_FOLLOW));
    };
    watch("");
    watch(k_socket_name);
    if (m_lock) {
        watch(k_lock_name);
    }
    std::array<char, 4096> ignored{};
    while (::read(m_watch.get(), ignored.data(), ignored.size()) > 0) {
    }
}

bool Listener::still_ours() const {
    if (!m_directory.fd) {
        return true; // systemd's, in a place of its own
    }
    struct stat by_fd {};
    struct stat by_name {};
    return ::fstat(m_directory.fd.get(), &by_fd) == 0 &&
           ::lstat(m_directory.path.c_str(), &by_name) == 0 && by_fd.st_ino == by_name.st_ino &&
           by_fd.st_dev == by_name.st_dev && by_fd.st_uid == ::geteuid() &&
           (by_fd.st_mode & 0777U) == 0700U &&
           inode_at(m_directory, k_socket_name) == m_socket_inode &&
           (!m_lock || inode_at(m_directory, k_lock_name) == m_lock_inode);
}

void Listener::release() {
    m_watch.reset();
    if (m_bound && m_socket && inode_at(m_directory, k_socket_name) == m_socket_inode) {
        ::unlinkat(m_directory.fd.get(), k_socket_name, 0);
    }
    m_socket.reset();
    m_lock.reset();
}

Place Place::own() {
    Place place;
    place.m_mounts = mounts_of("self");
    place.m_root = root_of("self");
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    if (::getgroups(static_cast<int>(groups.size()), groups.data()) < 0) {
        groups.clear();
    }
    place.m_groups = with(std::move(groups), ::getegid());
    return place;
}

bool Place::is_own_user(int socket) {
    const auto peer = credentials(socket);
    return peer && peer->uid == ::geteuid();
}

std::optional<Error> Place::why_elsewhere(int socket) const {
    const auto peer = credentials(socket);
    if (!peer) {
        return elsewhere("other processes are visible");
    }
    const std::string process = std::to_string(peer->pid);
    if (!m_mounts || mounts_of(process) != m_mounts || root_of(process) != m_root) {
        return elsewhere("other file systems are mounted");
    }
#ifdef SO_PEERGROUPS
    std::vector<gid_t> groups(256);
    auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) == 0) {
        groups.resize(size / sizeof(gid_t));
        if (with(std::move(groups), peer->gid) != m_groups) {
            return elsewhere("the user has other groups");
        }
    }
#endif
    return std::nullopt;
}

} // namespace cudaenv::daemon
