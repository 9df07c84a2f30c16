// What a conflict offers to paste says all that its solve assumed.
#include "hosts.hpp"
#include "solver/resolve/resolve.hpp"
#include "toy_channel.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace cudaenv;
using test::HostBuilder;

namespace {

std::vector<std::string> offered(const resolve::Request& request, const facts::Host& host) {
    std::vector<std::string> commands;
    const auto outcome = resolve::resolve(request, host, {});
    REQUIRE(outcome);
    REQUIRE(outcome->conflict);
    for (const auto& fix : outcome->conflict->fixes) {
        if (fix.command.starts_with("cudaenv ")) {
            commands.push_back(fix.command);
        }
    }
    REQUIRE_FALSE(commands.empty());
    return commands;
}

bool has(const std::vector<std::string>& commands, const std::string& command) {
    return std::find(commands.begin(), commands.end(), command) != commands.end();
}

const facts::Host k_lab = HostBuilder().driver("535.104.05").gpu("A10", "8.6").host();

} // namespace

TEST_CASE(
    "a pin that a fix changes is pinned again, since the project's file would keep it otherwise") {
    resolve::Request request;
    request.specs = {{"torch", "argument 1"}};
    request.pins = {{"torch", "1.12", "cudaenv.toml line 2"}, {"cuda", "12.1", "--cuda"}};
    const auto commands = offered(request, k_lab);
    CHECK(has(commands, "cudaenv pin torch=2.5.1 && cudaenv resolve torch --cuda 12.1"));
    CHECK(has(commands, "cudaenv resolve torch --cuda 11.6"));
}

TEST_CASE("the manager and strictness asked for are asked for again") {
    resolve::Request request;
    request.specs = {{"torch==2.4", "argument 1"}};
    request.pins = {{"cuda", "12.6", "--cuda"}};
    request.manager = resolve::ManagerChoice::Pip;
    request.strict_host = true;
    for (const std::string& command : offered(request, k_lab)) {
        INFO(command);
        CHECK(command.find(" --manager pip") != std::string::npos);
        CHECK(command.find(" --strict-host") != std::string::npos);
    }
}

TEST_CASE("running without building is asked for in words, as a project may say build") {
    resolve::Request request;
    request.specs = {{"torch==2.4", "argument 1"}};
    request.purpose = pins::Purpose::Build;
    CHECK(has(offered(request, k_lab), "cudaenv resolve torch==2.4 --for run"));
}

TEST_CASE("a driver that is named alone stands for a GPU that it serves") {
    resolve::Request request;
    request.specs = {{"torch", "argument 1"}};
    const auto outcome = resolve::resolve(request, HostBuilder().driver("470.199.02").host(), {});
    REQUIRE(outcome);
    REQUIRE(outcome->cuda);
    CHECK(outcome->cuda->major() == 11);
}

TEST_CASE("a CPU build of tensorflow is said to be one, and what is not here") {
    resolve::Request request;
    request.specs = {{"tensorflow", "argument 1"}};
    auto host = HostBuilder().driver("450.80.02").host();
    host.gpus_absent = "no card on the bus";
    const auto outcome = resolve::resolve(request, host, {});
    REQUIRE(outcome);
    REQUIRE(outcome->warnings.size() == 1);
    CHECK(outcome->warnings[0].code == "CE208");
    CHECK(outcome->warnings[0].arguments.front() ==
          std::pair<std::string, std::string>("missing", "GPU"));
}

TEST_CASE("a word where the catalogue has versions is bad input at its column") {
    resolve::Request request;
    request.specs = {{"cuda=eleven", "argument 1"}};
    const auto outcome = resolve::resolve(request, k_lab, {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == "bad-version");
    CHECK(outcome.error().message == "\"eleven\" is not a version");
    CHECK(outcome.error().column == 6);
    request.specs = {{"torch=1.12=py3.9*", "argument 1"}};
    CHECK(resolve::resolve(request, k_lab, {})); // a build may begin with anything
}

TEST_CASE("a token in a spec's channel is never shown") {
    resolve::Request request;
    request.specs = {{"https://me:s3cret@host/t/tk-1/c::torch", "argument 1"}};
    const auto outcome = resolve::resolve(request, k_lab, {});
    if (!outcome) {
        CHECK(outcome.error().message.find("s3cret") == std::string::npos);
        return;
    }
    CHECK(outcome->request.front() == "https://***@host/t/***/c::torch");
    REQUIRE(outcome->solved()); // the catalogue has no channels
    for (const auto& command : outcome->commands) {
        CHECK(command.find("s3cret") == std::string::npos);
    }
}

TEST_CASE("a channel's CPU build is said to be one, unless it was asked for") {
    test::ToyChannel channel("toy");
    channel.add("pytorch", "2.5.0", "py39_cpu_0");
    const std::vector<const resolve::Channel*> channels{&channel};
    resolve::Request request;
    request.specs = {{"pytorch", "argument 1"}};
    const auto outcome = resolve::resolve(request, HostBuilder().host(), channels);
    REQUIRE(outcome);
    REQUIRE(outcome->warnings.size() == 1);
    CHECK(outcome->warnings[0].code == "CE208");
    request.cpu = true;
    CHECK(resolve::resolve(request, HostBuilder().host(), channels)->warnings.empty());
}
