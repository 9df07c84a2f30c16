#include "cli/child_daemon.hpp"

#include "base/own_limits.hpp"
#include "base/own_path.hpp"
#include "base/runtime_directory.hpp"
#include "base/time_slices.hpp"
#include "base/variables.hpp"
#include "protocol/build_id.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cudaenv::cli {

namespace {

// The directory of this program, symlinks resolved; empty if /proc is not mounted.
std::string own_directory() {
    std::string path = own_path();
    path.resize(std::min(path.size(), path.rfind('/')));
    return path;
}

struct Candidates {
    std::array<std::string, 3> paths;
    std::size_t count = 0;
};

// Where the daemon may be installed, best first.
Candidates daemon_candidates() {
    if (const char* chosen = std::getenv("CUDAENV_DAEMON"); chosen != nullptr && *chosen != '\0') {
        return {{chosen, {}, {}}, 1};
    }
    const std::string here = own_directory();
    return {
        {here + "/../libexec/cudaenv/cudaenvd", here + "/../daemon/cudaenvd", here + "/cudaenvd"},
        3};
}

// For a daemon that stays.
std::vector<char*> kept_environment() {
    std::vector<char*> out;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        if (std::ranges::binary_search(variables_kept_by_daemon(),
                                       text.substr(0, text.find('=')))) {
            out.push_back(*variable);
        }
    }
    out.push_back(nullptr);
    return out;
}

// The user's own without the loader's variables: an old libstdc++ of an environment on
// LD_LIBRARY_PATH would keep cudaenvd from starting. The request carries them.
std::vector<char*> environment_of_child() {
    std::vector<char*> out;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        if (!text.starts_with("LD_LIBRARY_PATH=") && !text.starts_with("LD_PRELOAD=") &&
            !text.starts_with("LD_AUDIT=")) {
            out.push_back(*variable);
        }
    }
    out.push_back(nullptr);
    return out;
}

// A program that reads our standard error to its end must not wait for a child that outlives us.
// System calls only.
void drop_standard_error() {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing < 0 || ::dup2(nothing, STDERR_FILENO) < 0) {
        ::close(STDERR_FILENO);
    }
}

// vfork costs one system call, posix_spawn six; and the child can try one path after another.
// Between vfork and exec the child only makes system calls.
[[gnu::noinline]] pid_t start(const Candidates& candidates, ChildKind kind, const char* value,
                              char* const* environment, int child_end) {
    const char* const option = kind == ChildKind::Stays ? "--stay" : "--stdio";
    std::array<std::array<const char*, 4>, 3> arguments{};
    for (std::size_t i = 0; i < candidates.count; ++i) {
        arguments[i] = {candidates.paths[i].c_str(), option, value, nullptr};
    }
    const pid_t child = ::vfork();
    if (child != 0) {
        return child;
    }
    ask_for_short_time_slices();
    if (kind != ChildKind::Session) {
        ::setsid(); // here: on a busy machine the loader may take longer than cudaenvd itself
    }
    if (::dup2(child_end, 0) < 0 || ::dup2(child_end, 1) < 0) {
        ::_exit(k_status_not_started);
    }
    if (kind != ChildKind::Session) {
        drop_standard_error();
    }
    give_back_limits();
    for (std::size_t i = 0; i < candidates.count; ++i) {
        ::execve(arguments[i][0], const_cast<char* const*>(arguments[i].data()), environment);
    }
    ::_exit(errno == ENOENT || errno == ENOTDIR ? k_status_not_found : k_status_not_started);
}

tl::unexpected<Error> system_error(const char* code, const std::string& what) {
    return unavailable(code, what + ": " + std::strerror(errno));
}

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

int above_standard(int fd) {
    if (fd > 2 || fd < 0) {
        return fd;
    }
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    ::close(fd);
    return moved;
}

Result<ChildDaemon> start_child_daemon(ChildKind kind) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return system_error("no-socket", "cannot make a socket pair");
    }
    Fd ours(above_standard(ends[0]));
    const Fd theirs(above_standard(ends[1]));
    if (!ours || !theirs) {
        return system_error("no-socket", "cannot make a socket pair");
    }
    const Candidates candidates = daemon_candidates();
    pid_t pid = -1;
    if (kind == ChildKind::Stays) {
        // A daemon of another build would be asked to leave by the next client of this build.
        const std::string build(protocol::build_id());
        const std::vector<char*> kept = kept_environment();
        pid = start(candidates, kind, build.c_str(), kept.data(), theirs.get());
    } else {
        const std::vector<char*> environment = environment_of_child();
        const char* const detached = kind == ChildKind::Detached ? "--detached" : nullptr;
        pid = start(candidates, kind, detached, environment.data(), theirs.get());
    }
    if (pid < 0) {
        return system_error("no-process", "cannot start cudaenvd");
    }
    return ChildDaemon{std::move(ours), pid};
}

std::string child_daemon_places() {
    std::string places;
    const Candidates candidates = daemon_candidates();
    for (std::size_t i = 0; i < candidates.count; ++i) {
        places += (i == 0 ? "" : ", ") + candidates.paths[i];
    }
    return places;
}

std::string child_daemon_found() {
    const Candidates candidates = daemon_candidates();
    for (std::size_t i = 0; i < candidates.count; ++i) {
        if (::access(candidates.paths[i].c_str(), X_OK) == 0) {
            return candidates.paths[i];
        }
    }
    return "";
}

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
