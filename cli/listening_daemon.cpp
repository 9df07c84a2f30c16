#include "cli/listening_daemon.hpp"

#include "base/runtime_directory.hpp"
#include "cli/child_daemon.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace cudaenv::cli {

namespace {

uid_t own_uid() {
    return static_cast<uid_t>(::getauxval(AT_EUID)); // no system call
}

// The socket's address; nothing if the path is too long.
std::optional<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        return std::nullopt;
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

// Connects without waiting: a listener whose queue is full does not serve. Checks that the other
// side belongs to this user. On failure `why` has the reason.
Fd connect_to(const std::string& path, std::string& why) {
    const auto address = address_of(path);
    if (!address) {
        return {};
    }
    Fd fd(above_standard(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
    if (!fd) {
        return {};
    }
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
        if (errno == EAGAIN) {
            why = "the daemon on " + path + " does not accept connections";
        } else if (errno == ECONNREFUSED) {
            why = "no daemon listens on " + path;
        } else if (errno == ENOENT) {
            why = "no daemon is running";
        } else {
            why = path + ": " + std::strerror(errno);
        }
        return {};
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.uid != own_uid()) {
        why = path + " is served by user " + std::to_string(peer.uid);
        return {};
    }
    return fd;
}

// One lstat instead of the full check of base/runtime_directory.hpp, which the daemon does; whose
// daemon it is, the connection shows. -1: nothing there, 0: not this user's own directory.
int is_own_directory(const std::string& path, mode_t forbidden) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        return errno == ENOENT ? -1 : 0;
    }
    return S_ISDIR(status.st_mode) && status.st_uid == own_uid() &&
                   (status.st_mode & forbidden) == 0
               ? 1
               : 0;
}

// The likely cases in few system calls; `why` stays empty if the full check is needed. The place is
// the one that open_runtime_directory chooses: XDG_RUNTIME_DIR alone, if it belongs to the user.
Fd connect_quickly(std::string& why) {
    constexpr mode_t k_others = 0077;
    constexpr mode_t k_others_write = 0022;
    const char* xdg = std::getenv("XDG_RUNTIME_DIR");
    const bool has_xdg = xdg != nullptr && *xdg == '/';
    const std::string parent =
        has_xdg ? std::string(xdg) : "/run/user/" + std::to_string(own_uid());
    const int directory = is_own_directory(parent + "/cudaenv", k_others);
    if (directory == 1) {
        return connect_to(parent + "/cudaenv/" + k_socket_name, why);
    }
    if (directory == -1 && is_own_directory(parent, k_others_write) == 1) {
        why = "no daemon is running";
    }
    return {};
}

// The same with the full check, for a path that is too long and for the reason.
Fd connect_carefully(std::string& why) {
    const auto directory =
        open_runtime_directory(std::getenv("XDG_RUNTIME_DIR"), own_uid(), IfMissing::Fail);
    if (!directory) {
        why = directory.error().code == "no-runtime-directory" ? "no daemon is running"
                                                               : directory.error().message;
        return {};
    }
    const std::string path = directory->path + '/' + k_socket_name;
    if (address_of(path)) {
        return connect_to(path, why);
    }
    return connect_to("/proc/self/fd/" + std::to_string(directory->fd.get()) + '/' + k_socket_name,
                      why);
}

} // namespace

Fd connect_to_listening_daemon(std::string& why) {
    Fd fd = connect_quickly(why);
    if (!fd && why.empty()) {
        fd = connect_carefully(why);
    }
    if (!fd && why.empty()) {
        why = "no daemon is running";
    }
    return fd;
}

} // namespace cudaenv::cli
