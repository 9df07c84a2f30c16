#include "cli/child_daemon.hpp"

#include "base/own_limits.hpp"
#include "base/own_path.hpp"
#include "base/time_slices.hpp"
#include "base/variables.hpp"
#include "protocol/build_id.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/socket.h>
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

} // namespace cudaenv::cli
