#include "cli/connection.hpp"

#include "base/runtime_directory.hpp"
#include "cli/child_daemon.hpp"
#include "cli/start_rules.hpp"
#include "protocol/skew.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <string_view>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

uid_t own_uid() {
    return static_cast<uid_t>(::getauxval(AT_EUID)); // no system call
}

// Answers of a listening daemon that mean "not for you, or not any more".
bool is_refusal(const Error& error) {
    constexpr auto k_refusals =
        std::to_array<std::string_view>({"other-build", "other-place", "leaving",
                                         "protocol-mismatch", "no-such-method", "hello-first"});
    return std::ranges::find(k_refusals, error.code) != k_refusals.end();
}

milliseconds left_until(Clock::time_point until) {
    return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(until - Clock::now()));
}

Result<std::string> hello_line() {
    protocol::Request hello;
    hello.method = "hello";
    hello.params = protocol::hello_to_json(protocol::own_hello());
    return protocol::encode_request(hello);
}

// The socket's address; none where it is too long for one.
std::optional<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        return std::nullopt;
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

// Connects without waiting: a listener whose queue is full is one that does not serve. Checks that
// the other side is this user's. On failure `why` says what is wrong; empty where nobody is there.
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
            why = "the daemon on " + path + " does not take connections";
        } else if (errno == ECONNREFUSED) {
            why = "nobody listens on " + path;
        } else if (errno == ENOENT) {
            why = "no daemon runs";
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

// One lstat in place of the whole check of base/runtime_directory.hpp, which the daemon makes:
// whose daemon it is the connection itself tells. -1 where there is nothing, 0 where it is not so.
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

// The likely cases in few system calls; `why` stays empty where a closer look is needed. The place
// is the one that open_runtime_directory chooses: XDG_RUNTIME_DIR's, if that is the user's own, has
// the only say.
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
        why = "no daemon runs";
    }
    return {};
}

// The same with the whole check, for a path too long and for the reason.
Fd connect_carefully(std::string& why) {
    const auto directory =
        open_runtime_directory(std::getenv("XDG_RUNTIME_DIR"), own_uid(), IfMissing::Fail);
    if (!directory) {
        why = directory.error().code == "no-runtime-directory" ? "no daemon runs"
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

Fd connect_to_listener(std::string& why) {
    Fd fd = connect_quickly(why);
    if (!fd && why.empty()) {
        fd = connect_carefully(why);
    }
    if (!fd && why.empty()) {
        why = "no daemon runs";
    }
    return fd;
}

} // namespace

Result<Connection> Connection::open(const ConnectWishes& wishes) {
    Connection connection(wishes);
    if (wishes.daemon) {
        if (daemon_is_unwanted(::getenv)) {
            connection.m_why_no_daemon = "CUDAENV_NO_DAEMON is set";
            connection.m_wishes.start = StartDaemon::Never;
        } else if (connection.connect_to_daemon()) {
            return connection;
        }
    } else {
        connection.m_wishes.start = StartDaemon::Never;
    }
    if (!wishes.child) {
        return unavailable("no-daemon", connection.m_why_no_daemon);
    }
    CUDAENV_TRY_VOID(connection.fork_child(true));
    return connection;
}

Result<Connection> Connection::start_child() {
    return open({.daemon = false});
}

Connection::Connection(Connection&& other) noexcept
    : m_wishes(other.m_wishes), m_peer(std::exchange(other.m_peer, Peer::None)),
      m_socket(std::move(other.m_socket)), m_child(std::exchange(other.m_child, -1)),
      m_may_stay(other.m_may_stay), m_said_hello(other.m_said_hello),
      m_greeting(std::move(other.m_greeting)), m_late(other.m_late), m_until(other.m_until),
      m_patient_until(other.m_patient_until), m_looks_again(other.m_looks_again),
      m_last_id(other.m_last_id), m_lines(std::move(other.m_lines)),
      m_why_no_daemon(std::move(other.m_why_no_daemon)) {}

Connection::~Connection() {
    finish();
}

bool Connection::connect_to_daemon() {
    m_socket = connect_to_listener(m_why_no_daemon);
    if (!m_socket) {
        return false;
    }
    m_peer = Peer::Daemon;
    return true;
}

Result<void> Connection::fork_child(bool may_stay) {
    m_may_stay = false;
    if (may_stay && m_wishes.start != StartDaemon::Never) {
        const std::string why = why_not_start(m_wishes.start, start_situation());
        m_may_stay = why.empty();
        if (!why.empty()) {
            m_why_no_daemon += (m_why_no_daemon.empty() ? "" : "; ") + why;
        }
    }
    CUDAENV_TRY(auto child, start_child_daemon(m_may_stay ? ChildKind::Stays : ChildKind::Session));
    m_peer = Peer::Child;
    m_socket = std::move(child.socket);
    m_child = child.pid;
    return {};
}

// Ends what was begun with the peer, so that another can be begun with.
void Connection::finish() {
    m_socket.reset();
    if (m_peer == Peer::Child && m_child > 0) {
        // A child that stays is nobody's to wait for. One that may and has not said is let be as
        // well: at a deadline on a busy machine it is the daemon of the next prompt, and if
        // another has the lock it ends, since its session is closed.
        const bool stays = m_may_stay && (!m_greeting || m_greeting->listening);
        if (!stays && !(m_late && m_wishes.let_finish)) {
            if (m_late) {
                ::kill(m_child,
                       SIGKILL); // leaves nothing half-written: files are renamed into place
            }
            wait_for_child();
        }
    }
    m_peer = Peer::None;
    m_child = -1;
    m_said_hello = false;
    m_greeting.reset();
    m_late = false;
    m_lines = protocol::LineReader();
}

void Connection::wait_for_child() const {
    if (!m_wishes.let_finish) {
        while (::waitpid(m_child, nullptr, 0) < 0 && errno == EINTR) {
        }
        return;
    }
    // Its session is closed, and mostly it has nothing else to do.
    constexpr timespec k_while{0, 500'000};
    while (::waitpid(m_child, nullptr, WNOHANG) == 0 && Clock::now() < m_until) {
        ::nanosleep(&k_while, nullptr);
    }
}

void Connection::leave_daemon(std::string why) {
    finish();
    m_why_no_daemon = std::move(why);
}

bool Connection::from_daemon() const {
    return m_peer == Peer::Daemon || (m_greeting && m_greeting->listening);
}

// The peer has closed its end: how did it end?
Error Connection::died() {
    Error error{
        ErrorKind::Defect, "daemon-died", "cudaenvd ended before it answered", {}, 0, 0, {}};
    if (m_child <= 0 || m_may_stay) { // what may stay is not waited for
        return error;
    }
    int status = 0;
    pid_t ended = -1;
    while ((ended = ::waitpid(m_child, &status, 0)) < 0 && errno == EINTR) {
    }
    m_child = -1;
    if (ended < 0) {
        return error;
    }
    if (WIFSIGNALED(status)) {
        error.message += ": killed by signal " + std::to_string(WTERMSIG(status));
        return error;
    }
    const int code = WEXITSTATUS(status);
    if (code != k_status_not_found && code != k_status_not_started) {
        error.message += ": status " + std::to_string(code);
        return error;
    }
    if (const std::string found = child_daemon_found();
        code == k_status_not_found && !found.empty()) {
        error.kind = ErrorKind::Unavailable;
        error.code = "daemon-does-not-load";
        error.message = found + " does not start: the loader does not find its libraries, or loads "
                                "others than those it was built with";
        error.hint = "the loader's words are above; ldd " + found + " shows them all";
        return error;
    }
    error.code = "daemon-not-found";
    error.message =
        code == k_status_not_found ? "cudaenvd is not there" : "cudaenvd does not start";
    error.hint = "looked for " + child_daemon_places();
    return error;
}

// Error "timed-out".
Result<void> Connection::wait_for(short events, Clock::time_point until) {
    while (true) {
        pollfd watched{m_socket.get(), events, 0};
        const int ready = ::poll(&watched, 1, static_cast<int>(left_until(until).count()));
        if (ready > 0) {
            return {};
        }
        if (ready == 0) {
            m_late = true;
            return unavailable("timed-out", "cudaenvd did not answer in time");
        }
        if (errno != EINTR) {
            return unavailable("no-socket",
                               std::string("cannot wait for cudaenvd: ") + std::strerror(errno));
        }
    }
}

// Of a listening daemon for `patience`, and on as long as it still greets others.
Result<void> Connection::wait_for_answer(Clock::time_point until) {
    if (m_peer != Peer::Daemon) {
        return wait_for(POLLIN, until);
    }
    while (true) {
        auto waited = wait_for(POLLIN, std::min(until, m_patient_until));
        if (waited || !m_late || !m_looks_again || Clock::now() >= until || !greets()) {
            return waited;
        }
        m_late = false;
        m_patient_until = Clock::now() + m_wishes.patience;
    }
}

Result<void> Connection::send(std::string_view bytes, Clock::time_point until) {
    while (!bytes.empty()) {
        // No SIGPIPE: a peer that is gone shows as EPIPE, and the reading side tells why.
        const ssize_t sent =
            ::send(m_socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK) {
                CUDAENV_TRY_VOID(wait_for(POLLOUT, until));
                continue;
            }
            if (errno == EINTR) {
                continue;
            }
            return tl::unexpected(died());
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

Result<protocol::Response> Connection::receive(Clock::time_point until) {
    static std::array<char, std::size_t{64} * 1024>
        chunk; // one connection at a time; too big for the stack's taste
    while (true) {
        if (const auto line = m_lines.next()) {
            if (const auto progress =
                    m_wishes.on_progress ? protocol::decode_progress(*line) : std::nullopt) {
                m_wishes.on_progress(*progress);
                continue;
            }
            auto response = protocol::decode_response(*line);
            if (!response) { // the user can mend nothing there
                return defect("cudaenvd's answer cannot be read: " + response.error().message);
            }
            return response;
        }
        CUDAENV_TRY_VOID(wait_for_answer(until));
        const ssize_t size = ::recv(m_socket.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
            continue;
        }
        if (size <= 0) {
            return tl::unexpected(died());
        }
        if (Clock::now() >= until) { // one that sends for ever
            m_late = true;
            return unavailable("timed-out", "cudaenvd did not answer in time");
        }
        if (auto fed = m_lines.feed({chunk.data(), static_cast<std::size_t>(size)}); !fed) {
            return defect("cudaenvd sent a line that is too long");
        }
    }
}

// Whether the listening daemon still greets, on a connection of its own: a long answer may take its
// time, a stopped process may not.
bool Connection::greets() const {
    std::string ignored;
    const Fd other = connect_to_listener(ignored);
    const auto line = hello_line();
    if (!other || !line ||
        ::send(other.get(), line->data(), line->size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        return false;
    }
    const auto until = Clock::now() + m_wishes.patience;
    char byte = 0;
    pollfd watched{other.get(), POLLIN, 0};
    int ready = -1;
    while ((ready = ::poll(&watched, 1, static_cast<int>(left_until(until).count()))) < 0 &&
           errno == EINTR) {
    }
    return ready > 0 && ::recv(other.get(), &byte, 1, MSG_DONTWAIT) == 1;
}

// The first response of a connection. What it says of the other build decides whether to go on.
Result<void> Connection::read_greeting(Clock::time_point until) {
    CUDAENV_TRY(const auto response, receive(until));
    if (!response.result) {
        return tl::unexpected(response.result.error());
    }
    auto greeting = protocol::hello_from_json(*response.result);
    if (!greeting) {
        return defect("cudaenvd's greeting cannot be read: " + greeting.error().message);
    }
    m_greeting = *std::move(greeting);
    const protocol::Hello mine = protocol::own_hello();
    if (m_peer == Peer::Child) {
        if (m_greeting->protocol != mine.protocol) {
            return unavailable("protocol-mismatch",
                               "cudaenv (" + mine.build + ") speaks protocol " +
                                   std::to_string(mine.protocol) + ", cudaenvd (" +
                                   m_greeting->build + ") protocol " +
                                   std::to_string(m_greeting->protocol),
                               "install both from one build");
        }
        return {};
    }
    const protocol::Skew skew = protocol::skew_of(*m_greeting, mine);
    if (skew == protocol::Skew::Same || !m_wishes.child) { // who asks about it takes any
        return {};
    }
    if (skew == protocol::Skew::Older) {
        // Its answer says that the lock is free; without it the child finds out by itself.
        protocol::Request drain;
        drain.id = ++m_last_id;
        drain.method = "daemon.drain";
        CUDAENV_TRY(const auto line, protocol::encode_request(drain));
        CUDAENV_TRY_VOID(send(line, until));
        while (true) {
            CUDAENV_TRY(const auto answer, receive(until));
            if (answer.id == drain.id) {
                break;
            }
        }
        return unavailable("other-build", "the daemon was of an older build (" + m_greeting->build +
                                              ") and was asked to leave");
    }
    m_wishes.start = StartDaemon::Never;
    return unavailable("other-build", "the daemon is of another build (" + m_greeting->build + ')');
}

Result<protocol::Reply> Connection::ask_peer(protocol::Request& request, Clock::time_point until) {
    request.id = ++m_last_id;
    std::string bytes;
    if (!m_said_hello) {
        CUDAENV_TRY(bytes, hello_line());
    }
    CUDAENV_TRY(const auto line, protocol::encode_request(request));
    bytes += line;
    const auto started = Clock::now();
    m_patient_until = std::min(until, started + m_wishes.patience);
    // A short deadline leaves no time for second looks.
    m_looks_again = until - started > std::chrono::seconds(1);
    if (m_peer == Peer::Daemon && !m_looks_again) {
        until = m_patient_until;
    }
    CUDAENV_TRY_VOID(send(bytes, m_peer == Peer::Daemon ? m_patient_until : until));
    if (!std::exchange(m_said_hello, true)) {
        CUDAENV_TRY_VOID(read_greeting(until));
    }
    CUDAENV_TRY(auto response, receive(until));
    if (response.id != request.id) {
        return defect("cudaenvd answered another request than the one asked");
    }
    if (!response.result) {
        return tl::unexpected(std::move(response.result).error());
    }
    auto reply = protocol::reply_from_json(*response.result);
    if (!reply) {
        return defect("cudaenvd's answer cannot be read: " + reply.error().message);
    }
    return reply;
}

Result<protocol::Reply> Connection::ask(protocol::Request request, milliseconds deadline) {
    const auto until = Clock::now() + deadline;
    m_until = until;
    if (m_peer == Peer::None) { // the one before failed
        CUDAENV_TRY_VOID(fork_child(true));
    }
    auto reply = ask_peer(request, until);
    if (reply) {
        return reply;
    }
    const Error& error = reply.error();
    const bool peer_failed = m_late || error.code == "daemon-died" || error.code == "defect" ||
                             error.code == "no-socket" || is_refusal(error);
    if (m_peer == Peer::Daemon && peer_failed) {
        leave_daemon(error.message);
        if (!m_wishes.child) {
            return unavailable("no-daemon", m_why_no_daemon);
        }
        CUDAENV_TRY_VOID(fork_child(true));
        reply = ask_peer(request, until);
    }
    // One that may stay starts with less than this process has: where it fails before it greets,
    // a plain one may not.
    if (!reply && m_peer == Peer::Child && m_may_stay && !m_greeting && !m_late) {
        leave_daemon(reply.error().message);
        CUDAENV_TRY_VOID(fork_child(false));
        reply = ask_peer(request, until);
    }
    return reply;
}

} // namespace cudaenv::cli
