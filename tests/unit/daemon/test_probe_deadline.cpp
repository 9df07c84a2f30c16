#include "daemon/probe/building.hpp"
#include "daemon/probe/probe.hpp"
#include "protocol/message.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::daemon;
using std::chrono::seconds;

TEST_CASE("the ladder has more time for each GPU beyond the first") {
    CHECK(ladder_deadline(false, 0) == seconds(20)); // unknown, or none
    CHECK(ladder_deadline(false, 1) == seconds(20));
    CHECK(ladder_deadline(false, 2) == seconds(30));
    CHECK(ladder_deadline(false, 8) == seconds(90));
    CHECK(ladder_deadline(true, 1) == seconds(120));
    CHECK(ladder_deadline(true, 8) == seconds(330));
}

TEST_CASE("with however many it ends before a client gives up") {
    CHECK(ladder_deadline(true, 1'000'000) + k_program_deadline + k_extension_deadline <
          cudaenv::protocol::k_probe_patience);
}
