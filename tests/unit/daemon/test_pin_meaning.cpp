#include "daemon/pin_meaning.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;

TEST_CASE("the newest torch is torch's version whatever else is pinned") {
    const auto meaning = daemon::meaning_of(
        {{"cuda", "11.3", "cudaenv.toml line 2"}, {"python", "3.9", "cudaenv.toml line 3"}}, {});
    REQUIRE(meaning);
    REQUIRE_FALSE(meaning->lines.empty());
    CHECK(meaning->lines.back().text == "newest torch with CUDA 11.3 is 1.12.1");
}
