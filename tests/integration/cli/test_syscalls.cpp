#include "run_client.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sstream>

using namespace cudaenv::test;

namespace {

// System calls of the client alone, with the counts of each in `counts`; skips where they cannot be
// counted.
long system_calls(const Client& client, const std::vector<std::string>& words,
                  std::string& counts) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(CUDAENV_STATIC)
    SKIP("this build's client is not static; the dev preset's is");
#endif
    const std::string file = client.directory + "/counts";
    const Ran ran = client.run(words, {}, {"strace", "-c", "-U", "calls,name", "-o", file});
    if (ran.status == 127) {
        SKIP("no strace here; apt install strace");
    }
    if (ran.status != 0 && ran.err.find("trace") != std::string::npos) {
        SKIP("strace may not trace here: " + ran.err);
    }
    REQUIRE(ran.status == 0);
    counts = read_file(file);
    // The last line is "     27 total".
    std::istringstream lines(counts);
    long total = -1;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words_of_line(line);
        long calls = 0;
        std::string name;
        if (words_of_line >> calls >> name && name == "total") {
            total = calls;
        }
    }
    return total;
}

// How often `name` was called.
long calls_of(const std::string& counts, const std::string& name) {
    std::istringstream lines(counts);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        long calls = 0;
        std::string called;
        if (words >> calls >> called && called == name) {
            return calls;
        }
    }
    return 0;
}

} // namespace

// Looking for a daemon that is not there costs three more than the daemon itself would. One is to
// see how many descriptors there may be, and three limit the wait for the child's end.
TEST_CASE("the client makes at most 34 system calls for a round trip with a child") {
    const Client client;
    std::string counts;
    const long total = system_calls(client, {"host"}, counts);
    INFO(counts);
    CHECK(total > 5);
    CHECK(total <= 34);
}

// What the client promises (design decision 10).
TEST_CASE("the client makes fewer than 30 system calls for a round trip with the daemon") {
    const Client client;
    REQUIRE(client.run({"daemon", "start"}).status == 0);
    std::string counts;
    const long whole = system_calls(client, {"host"}, counts); // greeting and answer apart
    INFO(counts);
    CHECK(whole < 30);
    CHECK(calls_of(counts, "vfork") == 0);
    // A quick answer comes with the greeting, once the daemon has seen the place.
    REQUIRE(client.run({"prompt", "bash"}).status == 0);
    long quick = 0;
    do { // a daemon that got no time for some milliseconds has a child started beside it
        quick = system_calls(client, {"prompt", "bash"}, counts);
    } while (calls_of(counts, "vfork") != 0);
    CHECK(client.run({"daemon", "stop"}).status == 0);
    INFO(counts);
    CHECK(quick < 30);
    for (const char* once : {"socket", "connect", "sendto", "recvfrom"}) {
        CHECK(calls_of(counts, once) == 1);
    }
}
