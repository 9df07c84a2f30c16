#include "daemon/session.hpp"

#include "protocol/build_id.hpp"
#include "protocol/frame.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <string>

namespace cudaenv::daemon {

namespace {

namespace asio = boost::asio;
constexpr auto k_errors_as_values = asio::as_tuple(asio::use_awaitable);

protocol::Response greet(const protocol::Request& request, const Service& service, bool& greeted) {
    auto hello = protocol::hello_from_json(request.params);
    if (!hello) {
        return {request.id, tl::unexpected(std::move(hello).error())};
    }
    if (hello->protocol != protocol::k_protocol_number) {
        return {request.id, unavailable("protocol-mismatch",
                                        "the client (" + hello->build + ") speaks protocol " +
                                            std::to_string(hello->protocol) + ", cudaenvd (" +
                                            std::string(protocol::build_id()) + ") protocol " +
                                            std::to_string(protocol::k_protocol_number),
                                        "install both from one build")};
    }
    greeted = true;
    return {request.id,
            protocol::hello_to_json({protocol::k_protocol_number, std::string(protocol::build_id()),
                                     service.methods()})};
}

// The line that answers, whatever it takes: an answer too long for a frame becomes its own error.
std::string encode(const protocol::Response& response) {
    auto line = protocol::encode_response(response);
    if (!line) {
        line = protocol::encode_response({response.id, tl::unexpected(line.error())});
    }
    return line ? *std::move(line) : std::string();
}

} // namespace

asio::awaitable<void> serve(Streams streams, const Service& service, asio::thread_pool& workers,
                            Lifetime lifetime) {
    protocol::LineReader lines;
    std::array<char, std::size_t{64} * 1024> chunk{};
    std::string unsent;
    bool greeted = false;
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
                co_await asio::async_write(streams.out, asio::buffer(*refusal), k_errors_as_values);
                co_return;
            }
            continue;
        }
        auto request = protocol::decode_request(*line);
        std::string answer;
        bool was_request = false;
        if (!request) {
            answer = protocol::encode_refusal(request.error()).value_or(std::string());
        } else if (request->method == "hello") {
            answer = encode(greet(*request, service, greeted));
        } else if (!greeted) {
            answer =
                encode({request->id, bad_input("hello-first",
                                               "the first message of a connection is \"hello\"")});
        } else {
            was_request = true;
            answer = co_await asio::co_spawn(
                workers,
                [&]() -> asio::awaitable<std::string> {
                    co_return encode(service.answer(*request));
                },
                asio::use_awaitable);
        }
        unsent += answer;
        const bool last = was_request && lifetime == Lifetime::OneRequest;
        // A hello's answer travels with that of the request which came with it: one wake-up of the
        // client, not two.
        if (!was_request && lines.has_line()) {
            continue;
        }
        const auto [failed, written] =
            co_await asio::async_write(streams.out, asio::buffer(unsent), k_errors_as_values);
        if (failed || last) {
            co_return;
        }
        unsent.clear();
    }
}

} // namespace cudaenv::daemon
