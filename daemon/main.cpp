// cudaenvd: answers the requests of docs/protocol.md on its standard input and output.
//   --stdio  until standard input ends     --once  one request, then exit     --version
#include "daemon/service.hpp"
#include "daemon/session.hpp"
#include "protocol/build_id.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace {

namespace asio = boost::asio;
using cudaenv::daemon::Lifetime;

int serve_standard_streams(Lifetime lifetime) {
    asio::io_context io(1); // one thread: Asio may leave out its locks
    asio::thread_pool workers(1);
    const auto service = cudaenv::daemon::make_service();
    std::exception_ptr problem;
    asio::co_spawn(io,
                   cudaenv::daemon::serve({asio::posix::stream_descriptor(io, ::dup(0)),
                                           asio::posix::stream_descriptor(io, ::dup(1))},
                                          service, workers, lifetime),
                   [&](std::exception_ptr thrown) { problem = std::move(thrown); });
    io.run();
    workers.join();
    if (problem) {
        std::rethrow_exception(problem);
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    std::optional<Lifetime> lifetime;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--stdio") {
            lifetime = Lifetime::UntilClosed;
        } else if (argument == "--once") {
            lifetime = Lifetime::OneRequest;
        } else if (argument == "--version") {
            std::printf("cudaenvd %s\n", std::string(cudaenv::protocol::build_id()).c_str());
            return 0;
        } else {
            std::fprintf(stderr,
                         "cudaenvd: \"%s\" is not an option (argument %d); there are "
                         "--stdio, --once and --version\n",
                         argv[i], i);
            return 2;
        }
    }
    if (!lifetime) {
        std::fputs("cudaenvd: it is started by cudaenv; by hand, with --stdio or --once\n", stderr);
        return 2;
    }
    // A client that went away is seen as EPIPE by the write, not as a signal.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return serve_standard_streams(*lifetime);
    } catch (const std::exception& thrown) {
        std::fprintf(stderr, "cudaenvd: %s\n", thrown.what());
        return 70;
    }
}
