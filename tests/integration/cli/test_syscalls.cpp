#include "run_client.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sstream>

using namespace cudaenv::test;

// What the client promises (design decision 10): under 30 system calls with a round trip.
TEST_CASE("the client makes fewer than 30 system calls for a round trip") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(CUDAENV_STATIC)
    SKIP("this build's client is not static; the dev preset's is");
#endif
    const Client client;
    const std::string counts = client.directory + "/counts";
    const Ran ran = client.run({"host"}, {}, {"strace", "-c", "-U", "calls,name", "-o", counts});
    if (ran.status == 127) {
        SKIP("no strace here; apt install strace");
    }
    if (ran.status != 0 && ran.err.find("trace") != std::string::npos) {
        SKIP("strace may not trace here: " + ran.err);
    }
    REQUIRE(ran.status == 0);
    // The last line is "     27 total".
    std::istringstream lines(read_file(counts));
    long total = -1;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        long calls = 0;
        std::string name;
        if (words >> calls >> name && name == "total") {
            total = calls;
        }
    }
    INFO(read_file(counts));
    CHECK(total > 5);
    CHECK(total < 30);
}
