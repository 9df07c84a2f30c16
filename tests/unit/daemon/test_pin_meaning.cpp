#include "daemon/pin_meaning.hpp"
#include "solver/knowledge/knowledge.hpp"

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

namespace {

activation::Situation pinned(std::vector<std::pair<std::string, std::string>> pins,
                             const std::string& driver, const std::string& gives) {
    activation::Situation situation;
    for (auto& [name, constraint] : pins) {
        situation.pins.pins.push_back(
            {{name, constraint, "cudaenv.toml"}, pins::PinSource::Project});
    }
    situation.host.driver.emplace();
    situation.host.driver->version = DottedVersion::of(driver);
    situation.host.driver->cuda = DottedVersion::of(gives);
    return situation;
}

} // namespace

TEST_CASE("a CUDA that the driver does not run is said once, with the newest that it runs") {
    const auto meaning = daemon::meaning_of(pinned({{"cuda", "13.0"}}, "550.54.15", "12.4"));
    REQUIRE(meaning);
    CHECK_FALSE(meaning->possible);
    REQUIRE(meaning->lines.size() == 1);
    CHECK(meaning->lines[0].verdict == knowledge::Verdict::Fails);
    CHECK(meaning->nvcc_command.empty());
    CHECK(meaning->instead == "12.4");
}

TEST_CASE("a torch that was never released is not possible, and the newest is named") {
    const auto meaning = daemon::meaning_of(pinned({{"torch", "2.99"}}, "550.54.15", "12.4"));
    REQUIRE(meaning);
    CHECK_FALSE(meaning->possible);
    REQUIRE(meaning->lines.size() == 1);
    const auto& newest = knowledge::torch_releases().back().torch;
    CHECK(meaning->instead == "torch=" + newest.major_minor());
    CHECK(meaning->lines[0].text.find(newest.str()) != std::string::npos);
}

TEST_CASE("a cuDNN of another major than every build of the pinned torch has is not possible") {
    const auto meaning =
        daemon::meaning_of(pinned({{"cudnn", "8.9"}, {"torch", "2.6"}}, "550.54.15", "12.4"));
    REQUIRE(meaning);
    CHECK_FALSE(meaning->possible);
    CHECK(meaning->to_remove == "cudnn");
    const auto fits =
        daemon::meaning_of(pinned({{"cudnn", "9"}, {"torch", "2.6"}}, "550.54.15", "12.4"));
    REQUIRE(fits);
    CHECK(fits->possible);
    const auto several =
        daemon::meaning_of(pinned({{"cudnn", "8.9"}, {"torch", ">=2.2"}}, "550.54.15", "12.4"));
    REQUIRE(several);
    CHECK(several->possible);
}
