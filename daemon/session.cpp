#include "daemon/session.hpp"

#include "protocol/build_id.hpp"
#include "protocol/frame.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace cudaenv::daemon {

namespace {

namespace asio = boost::asio;

// What a connection has come to: who it is is known after its hello.
struct Introduction {
    bool made = false;
    std::optional<Error> refused;
};

Error protocol_mismatch(const protocol::Hello& hello) {
    return unavailable("protocol-mismatch",
                       "the client (" + hello.build + ") speaks protocol " +
                           std::to_string(hello.protocol) + ", cudaenvd (" +
                           std::string(protocol::build_id()) + ") protocol " +
                           std::to_string(protocol::k_protocol_number),
                       "install both from one build")
        .value();
}

// A hello of any protocol number is answered, so that a client learns whom it has met.
protocol::Response greet(const protocol::Request& request, const Door& door,
                         Introduction& introduction) {
    auto hello = protocol::hello_from_json(request.params);
    if (!hello) {
        return {request.id, tl::unexpected(std::move(hello).error())};
    }
    introduction.made = true;
    introduction.refused = hello->protocol != protocol::k_protocol_number
                               ? std::optional(protocol_mismatch(*hello))
                               : door.refusal(*hello);
    return {request.id, protocol::hello_to_json(door.greeting())};
}

// Why the request is not to be answered; none where it is.
std::optional<Error> why_not(const protocol::Request& request, const Introduction& introduction) {
    if (request.method.starts_with("daemon.")) {
        return std::nullopt; // of any build, for ever: a newer client can make an older daemon
                             // leave
    }
    if (!introduction.made) {
        return bad_input("hello-first", "the first message of a connection is \"hello\"").value();
    }
    return introduction.refused;
}

// The line that answers, whatever it takes: an answer too long for a frame becomes its own error.
std::string encode(const protocol::Response& response) {
    auto line = protocol::encode_response(response);
    if (!line) {
        line = protocol::encode_response({response.id, tl::unexpected(line.error())});
    }
    return line ? *std::move(line) : std::string();
}

// False if no one reads.
asio::awaitable<bool> write(asio::posix::stream_descriptor& out, std::string_view bytes) {
    const auto [failed, written] =
        co_await asio::async_write(out, asio::buffer(bytes), k_errors_as_values);
    co_return !failed;
}

// Sets `stop` once no one waits for the answer, until `forget_hang_up`. A socket is hung up when
// the other side has closed both ways, a pipe when its other end is closed. `in` that ended before
// is no news where one request was all that was to come.
void watch_hang_up(Streams& streams, Lifetime lifetime,
                   const std::shared_ptr<const StopEvent>& stop) {
    const auto watch = [&stop](asio::posix::stream_descriptor& stream) {
        stream.async_wait(asio::posix::stream_descriptor::wait_error,
                          [stop](const boost::system::error_code& failed) {
                              if (!failed) { // a file, which cannot be watched, does not hang up
                                  stop->set();
                              }
                          });
    };
    if (!streams.out || lifetime == Lifetime::UntilClosed) {
        watch(streams.in);
    }
    if (streams.out) {
        watch(*streams.out);
    }
}

void forget_hang_up(Streams& streams) {
    boost::system::error_code ignored;
    streams.in.cancel(ignored);
    if (streams.out) {
        streams.out->cancel(ignored);
    }
}

// Tells the other side, from one thread of a handler at a time, how far its answer is: until that
// is made no other thread writes there. Never waits: what finds no room is left out, and what found
// room in part is ended before the answer.
class Teller {
public:
    explicit Teller(int out) : m_out(out) {}

    void tell(const protocol::Progress& progress) {
        const std::string line = protocol::encode_progress(progress);
        if (!m_rest.empty()) {
            return;
        }
        ssize_t written = -1; // the descriptor does not block
        while ((written = ::write(m_out, line.data(), line.size())) < 0 && errno == EINTR) {
        }
        if (written > 0) {
            m_rest = line.substr(static_cast<std::size_t>(written));
        }
    }
    std::string take_rest() { return std::move(m_rest); }

private:
    int m_out;
    std::string m_rest;
};

// Whether whoever asked wants to hear how far the answer is.
bool wants_progress(const protocol::Request& request) {
    const auto wish = request.params.find("progress");
    return wish != request.params.end() && *wish == true;
}

asio::awaitable<std::string> answer_stoppably(Streams& streams, Lifetime lifetime, const Door& door,
                                              const protocol::Request& request,
                                              const Service& service, asio::io_context& lane) {
    const auto stop = std::make_shared<const StopEvent>();
    watch_hang_up(streams, lifetime, stop);
    door.can_stop(stop);
    Teller teller((streams.out ? *streams.out : streams.in).native_handle());
    auto answer = co_await asio::co_spawn(
        lane,
        [&]() -> asio::awaitable<std::string> {
            Waiter waiter{stop->descriptor(), {}};
            if (wants_progress(request)) {
                waiter.hear = [&](const protocol::Progress& progress) { teller.tell(progress); };
            }
            co_return encode(service.answer(request, waiter));
        },
        asio::use_awaitable);
    forget_hang_up(streams);
    door.can_stop(nullptr);
    co_return teller.take_rest() + answer;
}

asio::awaitable<std::string> answer(Streams& streams, Lifetime lifetime, const Door& door,
                                    const protocol::Request& request, const Service& service,
                                    Lanes& lanes) {
    asio::io_context* const lane = lanes.of(service.lane_of(request));
    if (lane == nullptr) {
        // While it runs here nothing is watched: signals then do what they do to any process.
        co_return encode(service.answer(request));
    }
    if (service.is_stoppable(request.method)) {
        co_return co_await answer_stoppably(streams, lifetime, door, request, service, *lane);
    }
    co_return co_await asio::co_spawn(
        *lane, [&]() -> asio::awaitable<std::string> { co_return encode(service.answer(request)); },
        asio::use_awaitable);
}

} // namespace

asio::awaitable<void> serve(Streams& streams, const Service& service, Lanes& lanes,
                            const Door& door, Lifetime lifetime) {
    auto& out = streams.out ? *streams.out : streams.in;
    protocol::LineReader lines;
    std::array<char, std::size_t{64} * 1024> chunk{};
    std::string unsent;
    Introduction introduction;
    while (true) {
        std::optional<std::string> line = lines.next();
        if (!line) {
            const auto [failed, size] =
                co_await streams.in.async_read_some(asio::buffer(chunk), k_errors_as_values);
            if (failed) {
                co_return;
            }
            if (auto fed = lines.feed({chunk.data(), size}); !fed) {
                const auto refusal = protocol::encode_refusal(
                    {protocol::RpcCode::InvalidRequest, std::nullopt, fed.error()});
                co_await write(out, *refusal);
                co_return;
            }
            continue;
        }
        auto request = protocol::decode_request(*line);
        bool was_request = false;
        bool last = false;
        if (!request) {
            unsent += protocol::encode_refusal(request.error()).value_or(std::string());
        } else if (request->method == "hello") {
            unsent += encode(greet(*request, door, introduction));
        } else if (auto refused = why_not(*request, introduction)) {
            unsent += encode({request->id, tl::unexpected(*std::move(refused))});
        } else {
            was_request = true;
            const Lane lane = service.lane_of(*request);
            // Whoever waits for a long answer is to know at once that somebody is there.
            if (lane != Lane::Here && lane != Lane::Quick && !unsent.empty()) {
                if (!co_await write(out, unsent)) {
                    co_return;
                }
                unsent.clear();
            }
            door.begins();
            unsent += co_await answer(streams, lifetime, door, *request, service, lanes);
            last = !door.ends() || lifetime == Lifetime::OneRequest;
        }
        // A hello's answer travels with that of the request which came with it: one wake-up of the
        // client, not two.
        if (!was_request && lines.has_line()) {
            continue;
        }
        if (!co_await write(out, unsent) || last) {
            co_return;
        }
        unsent.clear();
    }
}

} // namespace cudaenv::daemon
