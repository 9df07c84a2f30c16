#include "cli/ask.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;

TEST_CASE("whatever waits for a driver has the probe's time, host --probe too") {
    const auto probe = cli::deadline_of("probe", nlohmann::json::object());
    // The ladder of a machine with 32 GPUs, all built: daemon/probe/probe.cpp.
    CHECK(probe >= std::chrono::seconds(1800));
    CHECK(cli::deadline_of("host", {{"probe", true}}) == probe);
    CHECK(cli::deadline_of("host", {{"probe", false}}) < probe);
    CHECK(cli::deadline_of("host", nlohmann::json::object()) < probe);
    CHECK(cli::deadline_of("status", {{"probe", true}}) < probe);
}
