// One connection: reads requests, has the service answer them, writes the responses, in order.
//
// Law: nothing but a hello and what is asked of the daemon itself (`daemon.*`) is answered before a
// hello of the same protocol number, or to a client that the door refuses; a line that is no
// request is answered with JSON-RPC's error; a line too long ends the session after its error. What
// can be stopped is stopped once no one waits for it: the other side has hung up, or its pipe to us
// is at its end. Runs on the one io thread; a handler runs on its lane, so that the io thread stays
// free for other connections.
#pragma once

#include "daemon/lanes.hpp"
#include "daemon/service.hpp"
#include "daemon/waiter.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace cudaenv::daemon {

// Operations give their error as a value.
inline constexpr auto k_errors_as_values = boost::asio::as_tuple(boost::asio::use_awaitable);

enum class Lifetime {
    UntilClosed, // until the other side closes
    OneRequest,  // one request after the hello
};

// The two ends of pipes, or one socket for both: then `out` is absent.
struct Streams {
    boost::asio::posix::stream_descriptor in;
    std::optional<boost::asio::posix::stream_descriptor> out;
};

// What a session gets from its owner, and reports to it. Called on the io thread.
struct Door {
    // The answer to a hello.
    std::function<protocol::Hello()> greeting;
    // Why a client that said this hello gets no answers here; none where it does.
    std::function<std::optional<Error>(const protocol::Hello&)> refusal;
    std::function<void()> begins; // a request has come ...
    // ... and its answer is made; false where the session is to end after it is written.
    std::function<bool()> ends;
    // Between the two, of a request that can be stopped: with what. Then, with nothing, that it
    // has ended.
    std::function<void(std::shared_ptr<const StopEvent>)> can_stop;
};

// Ends when the session does; a stream that fails ends it quietly, since no one is left to
// report to. The references live at least as long.
boost::asio::awaitable<void> serve(Streams& streams, const Service& service, Lanes& lanes,
                                   const Door& door, Lifetime lifetime);

} // namespace cudaenv::daemon
