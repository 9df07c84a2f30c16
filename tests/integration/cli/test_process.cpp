#include "cli/connection.hpp"
#include "run_client.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>

using namespace cudaenv::test;

namespace {

// A daemon that is a shell script.
void use_daemon(Client& client, const std::string& script) {
    const std::string path = client.directory + "/daemon";
    write_file(path, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    client.environment["CUDAENV_DAEMON"] = path;
}

} // namespace

TEST_CASE("a missing daemon is status 70, and the message says where it was looked for") {
    Client client;
    client.environment["CUDAENV_DAEMON"] = "/no/such/cudaenvd";
    const Ran ran = client.run({"host"});
    CHECK(ran.status == 70);
    CHECK(ran.err == "cudaenv: cudaenvd was not found; looked for /no/such/cudaenvd\n");
    CHECK(ran.out.empty());
}

TEST_CASE("a daemon that dies is status 70 and says how") {
    Client client;
    use_daemon(client, "exit 9");
    const Ran ended = client.run({"host"});
    CHECK(ended.status == 70);
    CHECK(ended.err.find("cudaenvd ended before it answered: status 9") != std::string::npos);
    use_daemon(client, "kill -KILL $$");
    CHECK(client.run({"host"}).err.find("killed by signal 9") != std::string::npos);
}

TEST_CASE("a daemon that talks nonsense is status 70, not a crash") {
    Client client;
    use_daemon(client, "read a; echo nonsense; read b");
    CHECK(client.run({"host"}).status == 70);
    use_daemon(client,
               "echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}'; "
               "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"status\":\"x\"}}'; cat >&2");
    CHECK(client.run({"host"}).status == 70);
    use_daemon(client, "head -c 2000000 /dev/zero | tr '\\0' x; cat >/dev/null");
    CHECK(client.run({"host"}).err.find("a line that is too long") != std::string::npos);
}

TEST_CASE("a daemon of another protocol is recognized") {
    Client client;
    use_daemon(
        client,
        "echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32001,\"message\":\"m\","
        "\"data\":{\"code\":\"protocol-mismatch\",\"message\":\"speaks protocol 2\"}}}'; cat "
        ">/dev/null");
    const Ran ran = client.run({"host"});
    CHECK(ran.status == 3);
    CHECK(ran.err.find("speaks protocol 2") != std::string::npos);
}

TEST_CASE("help, version and completions need no daemon") {
    Client client;
    client.environment["CUDAENV_DAEMON"] = "/no/such/cudaenvd";
    CHECK(client.run({"--version"}).out.starts_with("cudaenv "));
    CHECK(client.run({"-h"}).status == 0);
    CHECK(client.run({"resolve", "--help"}).out.find("example") != std::string::npos);
    CHECK(client.run({"completions", "bash"}).out.find("complete -F") != std::string::npos);
}

TEST_CASE("a closed standard output is status 3, and nothing goes astray") {
    const Client client;
    const Ran ran = client.run_without(1, {"host"});
    CHECK(ran.status == 3);
    CHECK(ran.err.find("cannot write to standard output") != std::string::npos);
    CHECK(client.run_without(0, {"host"}).status == 0);
    CHECK(client.run_without(2, {"host"}).status == 0);
}

TEST_CASE("a full disk is status 3") {
    if (!std::filesystem::exists("/dev/full")) {
        SKIP("no /dev/full here");
    }
    const std::string command = std::string("cd / && CUDAENV_DAEMON='") + CUDAENV_DAEMON_PROGRAM +
                                "' '" + CUDAENV_CLIENT + "' --version > /dev/full 2>/dev/null";
    CHECK(WEXITSTATUS(std::system(command.c_str())) == 3);
}

TEST_CASE("a reader that goes away early is not complained about") {
    const Client client;
    const std::string early = std::string("(trap '' PIPE; CUDAENV_DAEMON='") +
                              CUDAENV_DAEMON_PROGRAM + "' '" + CUDAENV_CLIENT +
                              "' resolve -h 2> '" + client.directory + "/said') | true";
    CHECK(std::system(early.c_str()) == 0);
    CHECK(read_file(client.directory + "/said").empty());
}

TEST_CASE("the oracle answers line by line, in order, and names the line that is no question") {
    const Client client;
    std::string questions;
    std::string expected;
    for (int i = 0; i < 3000; ++i) { // several batches
        questions += R"({"k": "cmp", "a": "1.)" + std::to_string(i) +
                     R"(", "b": "1.1500", "r": 5})"
                     "\n";
        expected += i < 1500 ? "-1\n" : i == 1500 ? "0\n" : "1\n";
    }
    const Ran ran = client.run({"debug", "oracle"}, questions);
    CHECK(ran.status == 0);
    CHECK(ran.out == expected);
    const Ran bad =
        client.run({"debug", "oracle"}, "{\"k\": \"cmp\", \"a\": \"1\", \"b\": \"1\"}\n?\n");
    CHECK(bad.status == 2);
    CHECK(bad.err.find("standard input line 2") != std::string::npos);
    CHECK(client.run({"debug", "oracle"}).out.empty());
    CHECK(client.run({"debug", "oracle"}, std::string(200'000, 'x')).status == 2);
}

TEST_CASE("bash reads its completions, and completes commands, options and choices") {
    const Client client;
    if (!std::filesystem::exists("/bin/bash")) {
        SKIP("no bash here; apt install bash");
    }
    write_file(client.directory + "/c.bash", client.run({"completions", "bash"}).out);
    const auto complete = [&](const std::string& words, int at) {
        const std::string out = client.directory + "/completed";
        const std::string command = "cd '" + client.directory +
                                    "' && bash -c 'source ./c.bash; "
                                    "COMP_WORDS=(" +
                                    words + "); COMP_CWORD=" + std::to_string(at) +
                                    "; _cudaenv 2>/dev/null; echo \"${COMPREPLY[*]}\"' > completed";
        CHECK(std::system(command.c_str()) == 0);
        return read_file(out);
    };
    CHECK(complete("cudaenv hos", 1) == "host\n");
    CHECK(complete("cudaenv resolve --cu", 2) == "--cuda\n");
    CHECK(complete("cudaenv resolve --for b", 3) == "build\n");
    CHECK(complete("cudaenv completions z", 2) == "zsh\n");
}

TEST_CASE("whoever hears that the work goes on waits longer than the deadline") {
    const Client client;
    const std::string path = client.directory + "/daemon";
    write_file(path, R"(#!/usr/bin/env python3
import json, sys, time
def send(object): print(json.dumps({"jsonrpc": "2.0", **object}), flush=True)
hello = json.loads(sys.stdin.readline())
send({"id": hello["id"], "result": dict(hello["params"], capabilities=[])})
request = json.loads(sys.stdin.readline())
for _ in range(int(request["params"]["times"])):
    time.sleep(0.3)
    send({"method": "progress", "params": {"step": "files"}})
time.sleep(request["params"]["silent"])
send({"id": request["id"], "result": {"status": 0, "object": {}}})
)");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    ::setenv("CUDAENV_DAEMON", path.c_str(), 1);
    const auto ask = [](int times, int silent) {
        auto connection = cudaenv::cli::Connection::start_child();
        REQUIRE(connection);
        return connection->ask({0, "check", {{"times", times}, {"silent", silent}}, {}},
                               std::chrono::seconds(2));
    };
    CHECK(ask(12, 0)); // 3.6 s
    const auto silent = ask(2, 30);
    ::unsetenv("CUDAENV_DAEMON");
    REQUIRE_FALSE(silent);
    CHECK(silent.error().code == "timed-out");
}
