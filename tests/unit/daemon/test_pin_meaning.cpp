#include "daemon/pin_meaning.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;

TEST_CASE("the newest torch is torch's version whatever else is pinned") {
    activation::Situation situation;
    situation.pins.pins = {{{"cuda", "11.3", "cudaenv.toml line 2"}, pins::PinSource::Project},
                           {{"python", "3.9", "cudaenv.toml line 3"}, pins::PinSource::Project}};
    const auto meaning = daemon::meaning_of(situation);
    REQUIRE(meaning);
    REQUIRE_FALSE(meaning->lines.empty());
    CHECK(meaning->lines.back().text == "newest torch with CUDA 11.3 is 1.12.1");
}
