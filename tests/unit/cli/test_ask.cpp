#include "cli/ask.hpp"
#include "protocol/message.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;

TEST_CASE("whatever waits for a driver has the probe's time, host --probe too") {
    const auto probe = cli::deadline_of("probe", nlohmann::json::object());
    CHECK(probe >= protocol::k_probe_patience);
    CHECK(cli::deadline_of("host", {{"probe", true}}) == probe);
    CHECK(cli::deadline_of("host", {{"probe", false}}) < probe);
    CHECK(cli::deadline_of("host", nlohmann::json::object()) < probe);
    CHECK(cli::deadline_of("status", {{"probe", true}}) < probe);
}
