// One connection: reads requests, has the service answer them, writes the responses, in order.
//
// Law: nothing is answered before a `hello` of the same protocol number; a line that is no request
// is answered with JSON-RPC's error; a line too long ends the session after its error. Runs on the
// one io thread; a handler runs on a worker, so that the io thread stays free for other
// connections.
#pragma once

#include "daemon/service.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/thread_pool.hpp>

namespace cudaenv::daemon {

enum class Lifetime {
    UntilClosed, // until the other side closes
    OneRequest,  // one request after the hello
};

// The two descriptors may be two ends of pipes or one socket twice.
struct Streams {
    boost::asio::posix::stream_descriptor in;
    boost::asio::posix::stream_descriptor out;
};

// Ends when the session does; a stream that fails ends it quietly, since nobody is there to be
// told.
boost::asio::awaitable<void> serve(Streams streams, const Service& service,
                                   boost::asio::thread_pool& workers, Lifetime lifetime);

} // namespace cudaenv::daemon
