#include "cli/exchange.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <utility>

namespace cudaenv::cli {

namespace {

tl::unexpected<Error> died() {
    return tl::unexpected(
        Error{ErrorKind::Defect, k_daemon_died, "cudaenvd ended before it answered", {}, 0, 0, {}});
}

bool would_wait() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

} // namespace

Result<std::string> hello_line() {
    protocol::Request hello;
    hello.method = "hello";
    hello.params = protocol::hello_to_json(protocol::own_hello());
    return protocol::encode_request(hello);
}

Result<void> Exchange::begin(protocol::Request& request) {
    request.id = ++m_last_id;
    m_awaited = request.id;
    if (!std::exchange(m_said_hello, true)) {
        CUDAENV_TRY(m_unsent, hello_line());
    }
    CUDAENV_TRY(const auto line, protocol::encode_request(request));
    m_unsent += line;
    send_more(); // a closed peer shows when its answer is read
    return {};
}

short Exchange::events() const {
    return static_cast<short>(m_unsent.empty() ? POLLIN : POLLIN | POLLOUT);
}

// False where the other side has closed.
bool Exchange::send_more() {
    while (!m_unsent.empty()) {
        // No SIGPIPE: a closed peer shows as EPIPE.
        const ssize_t sent =
            ::send(m_socket.get(), m_unsent.data(), m_unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            return would_wait();
        }
        m_unsent.erase(0, static_cast<std::size_t>(sent));
    }
    return true;
}

Exchange::Ended Exchange::advance(short ready, const ProgressListener& listener) {
    if ((ready & POLLOUT) != 0 && !send_more()) {
        return died();
    }
    if ((ready & (POLLIN | POLLHUP | POLLERR)) == 0) {
        return std::nullopt;
    }
    // Used by one thread; too large for the stack.
    static std::array<char, std::size_t{64} * 1024> chunk;
    const ssize_t size = ::recv(m_socket.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (size < 0 && would_wait()) {
        return std::nullopt;
    }
    if (size <= 0) {
        return died();
    }
    if (!m_lines.feed({chunk.data(), static_cast<std::size_t>(size)})) {
        return defect("cudaenvd sent a line that is too long");
    }
    while (const auto line = m_lines.next()) {
        if (auto ended = take(*line, listener)) {
            return ended;
        }
    }
    return std::nullopt;
}

Exchange::Ended Exchange::take(std::string_view line, const ProgressListener& listener) {
    if (const auto progress = listener ? protocol::decode_progress(line) : std::nullopt) {
        listener(*progress);
        return std::nullopt;
    }
    if (const auto part = protocol::decode_part(line)) {
        m_parts += *part;
        return m_parts.size() <= protocol::k_most_result_bytes
                   ? std::nullopt
                   : Ended(defect("cudaenvd sent an answer that is too long"));
    }
    auto response = protocol::decode_response(line, std::exchange(m_parts, {}));
    if (!response) {
        return defect("cudaenvd's answer cannot be read: " + response.error().message);
    }
    if (!m_greeting) {
        return take_greeting(*response);
    }
    if (m_drain) {
        // Its answer says that the lock is free; without it a child finds that out.
        return response->id == m_drain
                   ? Ended(unavailable("other-build", "the daemon was of an older build (" +
                                                          m_greeting->build +
                                                          ") and was asked to exit"))
                   : std::nullopt;
    }
    if (response->id != m_awaited) {
        return defect("cudaenvd answered a different request");
    }
    if (!response->result) {
        return tl::unexpected(std::move(response->result).error());
    }
    auto reply = protocol::reply_from_json(*response->result);
    if (!reply) {
        return defect("cudaenvd's answer cannot be read: " + reply.error().message);
    }
    return reply;
}

// The first response of a connection. The peer's build decides whether to go on.
Exchange::Ended Exchange::take_greeting(const protocol::Response& response) {
    if (!response.result) {
        return tl::unexpected(response.result.error());
    }
    auto greeting = protocol::hello_from_json(*response.result);
    if (!greeting) {
        return defect("cudaenvd's greeting cannot be read: " + greeting.error().message);
    }
    m_greeting = *std::move(greeting);
    const protocol::Hello mine = protocol::own_hello();
    if (m_with == With::Child && m_greeting->protocol != mine.protocol) {
        return unavailable("protocol-mismatch",
                           "cudaenv (" + mine.build + ") speaks protocol " +
                               std::to_string(mine.protocol) + ", cudaenvd (" + m_greeting->build +
                               ") protocol " + std::to_string(m_greeting->protocol),
                           "install both from one build");
    }
    if (m_with != With::Daemon) {
        return std::nullopt;
    }
    switch (protocol::skew_of(*m_greeting, mine)) {
    case protocol::Skew::Same:
        return std::nullopt;
    case protocol::Skew::Older:
        return ask_to_leave();
    default:
        return unavailable("other-build",
                           "the daemon is of another build (" + m_greeting->build + ')');
    }
}

Exchange::Ended Exchange::ask_to_leave() {
    protocol::Request drain;
    drain.id = ++m_last_id;
    drain.method = "daemon.drain";
    auto line = protocol::encode_request(drain);
    if (!line) {
        return tl::unexpected(std::move(line).error());
    }
    m_drain = drain.id;
    m_unsent += *line;
    if (!send_more()) {
        return died();
    }
    return std::nullopt;
}

} // namespace cudaenv::cli
