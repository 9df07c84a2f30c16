#include "solver/pins/pin_layers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace cudaenv::pins;

TEST_CASE("of every two places that pin a name the stronger wins, in whichever order they come") {
    std::vector<PinLayer> layers;
    const std::vector<PinSource> order{PinSource::Shell,   PinSource::ProjectLocal,
                                       PinSource::Project, PinSource::Environment,
                                       PinSource::User,    PinSource::System};
    for (std::size_t strong = 0; strong < order.size(); ++strong) {
        for (std::size_t weak = strong + 1; weak < order.size(); ++weak) {
            layers = {{order[weak], {{"cuda", "12", "w"}}},
                      {order[strong], {{"cuda", "11.3", "s"}}}};
            for (int turn = 0; turn < 2; ++turn) {
                const EffectivePins pins = effective_pins(layers);
                REQUIRE(pins.pins.size() == 1);
                CHECK(pins.pins[0].pin.constraint == "11.3");
                CHECK(pins.pins[0].source == order[strong]);
                REQUIRE(pins.overridden.size() == 1);
                CHECK(pins.overridden[0].text == "cuda 11.3 (s) overrides 12 (w)");
                std::reverse(layers.begin(), layers.end());
            }
        }
    }
}

TEST_CASE("a default that gives way is a note, any other disagreement one warning") {
    const std::vector<PinLayer> layers{
        {PinSource::Shell, {{"cuda", "12.1", "CUDAENV_CUDA"}}},
        {PinSource::ProjectLocal, {{"torch", "2", "/p/cudaenv.local.toml line 2"}}},
        {PinSource::Project,
         {{"cuda", "11.3", "/p/cudaenv.toml line 2"}, {"torch", "1", "/p/cudaenv.toml line 3"}}},
        {PinSource::Environment, {{"cuda", "12.1", "/e"}}},
        {PinSource::User, {{"python", "3.9", "/u"}, {"torch", "1.9", "/u"}}}};
    const EffectivePins pins = effective_pins(layers);
    CHECK(pins.warnings() ==
          std::vector<std::string>{
              "cuda 12.1 (CUDAENV_CUDA) overrides 11.3 (/p/cudaenv.toml line 2)"});
    CHECK(pins.overridden.size() == 3); // the environment's 12.1 agrees with the shell's
    REQUIRE(pins.pins.size() == 3);
    CHECK(pins.pins[0].pin.name == "cuda");
    CHECK(pins.pins[1].pin.name == "python");
    CHECK(pins.find("torch")->pin.constraint == "2");
    CHECK(pins.find("gcc") == nullptr);
    CHECK(pins.list().size() == 3);
}

TEST_CASE("the same pin in two places is no disagreement") {
    const std::vector<PinLayer> layers{{PinSource::Project, {{"cuda", "11.3", "a"}}},
                                       {PinSource::Environment, {{"cuda", "11.3", "b"}}}};
    CHECK(effective_pins(layers).overridden.empty());
    CHECK(effective_pins({}).pins.empty());
}
