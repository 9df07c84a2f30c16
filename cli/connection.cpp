#include "cli/connection.hpp"

#include "protocol/build_id.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

namespace {

constexpr int k_status_not_found = 127; // as a shell says it

// The directory of this program, symlinks resolved; empty where /proc is not there.
std::string own_directory() {
    std::array<char, 4096> path{};
    const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
    if (size <= 0 || std::cmp_equal(size, path.size())) {
        return {};
    }
    const std::string_view whole(path.data(), static_cast<std::size_t>(size));
    return std::string(whole.substr(0, whole.rfind('/')));
}

struct Candidates {
    std::array<std::string, 3> paths;
    std::size_t count = 0;
};

// Where the daemon may be, best first.
Candidates daemon_candidates() {
    if (const char* chosen = std::getenv("CUDAENV_DAEMON"); chosen != nullptr && *chosen != '\0') {
        return {{chosen, {}, {}}, 1};
    }
    const std::string here = own_directory();
    return {
        {here + "/../libexec/cudaenv/cudaenvd", here + "/../daemon/cudaenvd", here + "/cudaenvd"},
        3};
}

// vfork, because it costs one system call where posix_spawn costs six, and because the child can
// then try one path after another. Between vfork and exec the child only makes system calls.
[[gnu::noinline]] pid_t start(const Candidates& candidates, int child_end) {
    std::array<std::array<const char*, 3>, 3> arguments{};
    for (std::size_t i = 0; i < candidates.count; ++i) {
        arguments[i] = {candidates.paths[i].c_str(), "--stdio", nullptr};
    }
    const pid_t child = ::vfork();
    if (child != 0) {
        return child;
    }
    if (::dup2(child_end, 0) < 0 || ::dup2(child_end, 1) < 0) {
        ::_exit(126);
    }
    for (std::size_t i = 0; i < candidates.count; ++i) {
        ::execv(arguments[i][0], const_cast<char* const*>(arguments[i].data()));
    }
    ::_exit(errno == ENOENT || errno == ENOTDIR ? k_status_not_found : 126);
}

// Where this program was started with a standard descriptor closed, a new one takes its number;
// what is printed must not go into the socket.
int above_standard(int fd) {
    if (fd > 2) {
        return fd;
    }
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    ::close(fd);
    return moved;
}

Error system_error(const char* code, const std::string& what) {
    return {ErrorKind::Unavailable, code, what + ": " + std::strerror(errno), {}, 0, 0, {}};
}

} // namespace

Result<Connection> Connection::start_child() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return tl::unexpected(system_error("no-socket", "cannot make a socket pair"));
    }
    Fd ours(above_standard(ends[0]));
    const Fd theirs(above_standard(ends[1]));
    if (!ours || !theirs) {
        return tl::unexpected(system_error("no-socket", "cannot make a socket pair"));
    }
    const pid_t child = start(daemon_candidates(), theirs.get());
    if (child < 0) {
        return tl::unexpected(system_error("no-process", "cannot start cudaenvd"));
    }
    return Connection(std::move(ours), child);
}

Connection::~Connection() {
    if (!m_socket) {
        return; // moved from
    }
    m_socket.reset();
    if (m_child > 0) {
        while (::waitpid(m_child, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
}

// The child has closed its end: how did it end?
Error Connection::died() {
    int status = 0;
    pid_t ended = -1;
    while ((ended = ::waitpid(m_child, &status, 0)) < 0 && errno == EINTR) {
    }
    m_child = -1;
    Error error{
        ErrorKind::Defect, "daemon-died", "cudaenvd ended before it answered", {}, 0, 0, {}};
    if (ended < 0) {
        return error;
    }
    if (WIFSIGNALED(status)) {
        error.message += ": killed by signal " + std::to_string(WTERMSIG(status));
        return error;
    }
    const int code = WEXITSTATUS(status);
    if (code != k_status_not_found && code != 126) {
        error.message += ": status " + std::to_string(code);
        return error;
    }
    error.code = "daemon-not-found";
    error.message =
        code == k_status_not_found ? "cudaenvd is not there" : "cudaenvd does not start";
    error.hint = "looked for ";
    const Candidates candidates = daemon_candidates();
    for (std::size_t i = 0; i < candidates.count; ++i) {
        error.hint += (i == 0 ? "" : ", ") + candidates.paths[i];
    }
    return error;
}

Result<void> Connection::send(std::string_view bytes) {
    while (!bytes.empty()) {
        // No SIGPIPE: a child that is gone shows as EPIPE, and the reading side tells why.
        const ssize_t sent = ::send(m_socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) {
                continue;
            }
            return tl::unexpected(died());
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

Result<protocol::Response> Connection::receive(std::chrono::steady_clock::time_point until) {
    static std::array<char, std::size_t{64} * 1024>
        chunk; // one connection at a time; too big for the stack's taste
    while (true) {
        if (const auto line = m_lines.next()) {
            auto response = protocol::decode_response(*line);
            if (!response) { // the user can mend nothing there
                return defect("cudaenvd's answer cannot be read: " + response.error().message);
            }
            return response;
        }
        const ssize_t size = ::recv(m_socket.get(), chunk.data(), chunk.size(), 0);
        const bool late = std::chrono::steady_clock::now() >= until;
        if ((size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) || (size != 0 && late)) {
            ::kill(m_child,
                   SIGKILL); // it leaves nothing half-written: files are renamed into place
            return unavailable("timed-out", "cudaenvd did not answer in time");
        }
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size <= 0) {
            return tl::unexpected(died());
        }
        if (auto fed = m_lines.feed({chunk.data(), static_cast<std::size_t>(size)}); !fed) {
            return defect("cudaenvd sent a line that is too long");
        }
    }
}

// One system call for the whole exchange, where poll would be one before each read.
Result<void> Connection::limit_waits(std::chrono::seconds longest) {
    if (m_longest_wait == longest) {
        return {};
    }
    const timeval wait{longest.count(), 0};
    if (::setsockopt(m_socket.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0) {
        return tl::unexpected(system_error("no-socket", "cannot set a deadline"));
    }
    m_longest_wait = longest;
    return {};
}

Result<protocol::Reply> Connection::ask(protocol::Request request, std::chrono::seconds deadline) {
    const auto until = std::chrono::steady_clock::now() + deadline;
    CUDAENV_TRY_VOID(limit_waits(deadline));
    request.id = ++m_last_id;
    std::string bytes;
    if (!m_greeted) {
        protocol::Request hello;
        hello.method = "hello";
        hello.params = protocol::hello_to_json(
            {protocol::k_protocol_number, std::string(protocol::build_id()), {}});
        CUDAENV_TRY(bytes, protocol::encode_request(hello));
    }
    CUDAENV_TRY(const auto line, protocol::encode_request(request));
    CUDAENV_TRY_VOID(send(bytes += line));
    if (!std::exchange(m_greeted, true)) {
        CUDAENV_TRY(const auto greeting, receive(until));
        if (!greeting.result) {
            return tl::unexpected(greeting.result.error());
        }
    }
    CUDAENV_TRY(auto response, receive(until));
    if (!response.result) {
        return tl::unexpected(std::move(response.result).error());
    }
    if (response.id != request.id) {
        return defect("cudaenvd answered another request than the one asked");
    }
    auto reply = protocol::reply_from_json(*response.result);
    if (!reply) {
        return defect("cudaenvd's answer cannot be read: " + reply.error().message);
    }
    return reply;
}

} // namespace cudaenv::cli
