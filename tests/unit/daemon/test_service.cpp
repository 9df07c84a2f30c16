#include "daemon/activation/machine.hpp"
#include "daemon/service.hpp"
#include "daemon/session.hpp"
#include "protocol/frame.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <memory>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>

using namespace cudaenv;
using namespace cudaenv::daemon;

namespace {

Service test_service() {
    Service service(std::make_shared<Machine>());
    service.add("echo", {[](const nlohmann::json& params, const auto&...) {
                             return Result<protocol::Reply>(
                                 protocol::Reply{1, {{"schema", "echo/1"}, {"got", params}}});
                         },
                         Lane::Quick});
    service.add("throw", {[](const auto&...) -> Result<protocol::Reply> {
                    throw std::runtime_error("unforeseen");
                }});
    service.add("daemon.echo", {[](const auto&...) -> Result<protocol::Reply> {
                                    return protocol::Reply{0, {{"schema", "echo/1"}}};
                                },
                                Lane::Here});
    service.add("wait", {[](const auto&, const auto&, const auto&,
                            const Waiter& waiter) -> Result<protocol::Reply> {
                             pollfd watched{waiter.stop_event, POLLIN, 0};
                             return ::poll(&watched, 1, 60'000) == 1
                                        ? Result<protocol::Reply>(unavailable("stopped", "m"))
                                        : protocol::Reply{0, {{"schema", "wait/1"}}};
                         },
                         Lane::Probe, Stoppable::Yes});
    service.add(
        "look",
        {[](const auto&, const auto&, const auto&,
            const Waiter& waiter) -> Result<protocol::Reply> {
             return protocol::Reply{0, {{"schema", "look/1"}, {"stopped", waiter.is_gone()}}};
         },
         Lane::Probe, Stoppable::Yes});
    return service;
}

// What a session answers to these bytes, line by line.
std::vector<nlohmann::json> answers_to(const std::string& input,
                                       Lifetime lifetime = Lifetime::UntilClosed) {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    REQUIRE(::pipe(to.data()) == 0);
    REQUIRE(::pipe(from.data()) == 0);
    REQUIRE(input.size() < 60'000); // within a pipe's buffer: written before anybody reads
    REQUIRE(::write(to[1], input.data(), input.size()) == static_cast<ssize_t>(input.size()));
    ::close(to[1]);
    boost::asio::io_context io(1);
    Lanes lanes;
    const Service service = test_service();
    Streams streams{boost::asio::posix::stream_descriptor(io, to[0]),
                    boost::asio::posix::stream_descriptor(io, from[1])};
    const Door door{[&] { return protocol::Hello{1, "0.1.0", service.methods(), 0, false, {}}; },
                    [](const protocol::Hello& hello) -> std::optional<Error> {
                        if (hello.build != "unwanted") {
                            return std::nullopt;
                        }
                        return Error{ErrorKind::Unavailable, "other-build", "m", {}, 0, 0, {}};
                    },
                    [] {}, [] { return true; }, [](std::shared_ptr<const StopEvent>) {}};
    boost::asio::co_spawn(io, serve(streams, service, lanes, door, lifetime),
                          boost::asio::detached);
    io.run();
    lanes.join();
    streams.out.reset();
    std::vector<nlohmann::json> answers;
    protocol::LineReader lines;
    std::array<char, 4096> chunk{};
    for (ssize_t size = 0; (size = ::read(from[0], chunk.data(), chunk.size())) > 0;) {
        REQUIRE(lines.feed({chunk.data(), static_cast<std::size_t>(size)}));
        while (auto line = lines.next()) {
            answers.push_back(nlohmann::json::parse(*line));
        }
    }
    ::close(from[0]);
    return answers;
}

const std::string k_hello = R"({"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":1}})"
                            "\n";

std::string request(int id, const std::string& method) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method +
           R"(","params":{"x":1,"caller":{"cwd":"/"}}})" + "\n";
}

} // namespace

TEST_CASE("a hello is answered with the methods, then requests in their order") {
    const auto answers = answers_to(k_hello + request(1, "echo") + request(2, "echo"));
    REQUIRE(answers.size() == 3);
    CHECK(answers[0]["result"]["capabilities"] ==
          nlohmann::json({"daemon.echo", "echo", "look", "throw", "wait"}));
    CHECK(answers[1]["id"] == 1);
    CHECK(answers[1]["result"]["status"] == 1);
    CHECK(answers[1]["result"]["object"]["got"] == nlohmann::json({{"x", 1}}));
    CHECK(answers[2]["id"] == 2);
}

TEST_CASE("nothing is answered before a hello of the same protocol") {
    CHECK(answers_to(request(1, "echo"))[0]["error"]["data"]["code"] == "hello-first");
    const auto answers =
        answers_to(R"({"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":99}})"
                   "\n" +
                   request(1, "echo"));
    REQUIRE(answers.size() == 2);
    CHECK(answers[0]["result"]["protocol"] == 1); // so that it learns whom it has met
    CHECK(answers[1]["error"]["data"]["code"] == "protocol-mismatch");
}

TEST_CASE("whom the door refuses gets a greeting, and answers about the daemon alone") {
    const auto answers = answers_to(R"({"jsonrpc":"2.0","id":0,"method":"hello",)"
                                    R"("params":{"protocol":1,"build":"unwanted"}})"
                                    "\n" +
                                    request(1, "echo") + request(2, "daemon.echo"));
    REQUIRE(answers.size() == 3);
    CHECK(answers[0]["result"]["build"] == "0.1.0");
    CHECK(answers[1]["error"]["data"]["code"] == "other-build");
    CHECK(answers[2]["result"]["object"]["schema"] == "echo/1");
}

TEST_CASE("a line that is no request is answered and the session goes on") {
    const auto answers = answers_to(k_hello + "junk\n" + request(1, "echo"));
    REQUIRE(answers.size() == 3);
    CHECK(answers[1]["error"]["code"] == -32700);
    CHECK(answers[1]["id"].is_null());
    CHECK(answers[2]["id"] == 1);
}

TEST_CASE("an unknown method and one that throws are errors of their own") {
    const auto answers = answers_to(k_hello + request(1, "ecko") + request(2, "throw"));
    REQUIRE(answers.size() == 3);
    CHECK(answers[1]["error"]["code"] == -32601);
    CHECK(answers[1]["error"]["data"]["hint"] == "did you mean \"echo\"?");
    CHECK(answers[2]["error"]["code"] == -32603);
    CHECK(answers[2]["error"]["data"]["code"] == "defect");
}

TEST_CASE("a session for one request ends after it") {
    CHECK(answers_to(k_hello + request(1, "echo") + request(2, "echo"), Lifetime::OneRequest)
              .size() == 2);
}

TEST_CASE("what can be stopped is, where the input has ended; the rest is answered to its end") {
    const auto answers = answers_to(k_hello + request(1, "echo") + request(2, "wait"));
    REQUIRE(answers.size() == 3);
    CHECK(answers[1]["result"]["status"] == 1);
    CHECK(answers[2]["error"]["data"]["code"] == "stopped");
}

TEST_CASE(
    "host --probe waits on the lane of probes, where no status and no solve waits behind it") {
    const Service service = make_service();
    const auto lane_of = [&](const char* method, nlohmann::json params) {
        return service.lane_of({0, method, std::move(params), {}});
    };
    CHECK(lane_of("host", {{"probe", true}}) == Lane::Probe);
    CHECK(lane_of("host", {{"probe", false}}) == Lane::Long);
    CHECK(lane_of("host", {{"probe", "true"}}) == Lane::Long);
    CHECK(lane_of("host", nlohmann::json::object()) == Lane::Long);
    CHECK(lane_of("probe", nlohmann::json::object()) == Lane::Probe);
    CHECK(lane_of("none such", nlohmann::json::object()) == Lane::Long);
}

TEST_CASE("a session for one request is not stopped by the end of its input") {
    const auto answers = answers_to(k_hello + request(1, "look"), Lifetime::OneRequest);
    REQUIRE(answers.size() == 2);
    CHECK(answers[1]["result"]["object"]["stopped"] == false);
}
