#include "solver/resolve/universe.hpp"
#include "toy_channel.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using test::ToyChannel;

namespace {
std::vector<std::string> answer(const resolve::Universe& universe,
                                std::vector<std::string> demands) {
    std::vector<std::string> names;
    if (const auto records = universe.solve(demands)) {
        for (const auto* record : *records) {
            names.push_back(record->name + '-' + record->version + '-' + record->build);
        }
    } else {
        names.emplace_back("none");
    }
    return names;
}

resolve::Universe reach(std::vector<const resolve::Channel*> channels,
                        std::vector<std::string> demands) {
    resolve::UniverseInput input;
    input.channels = std::move(channels);
    auto universe = resolve::Universe::reach(std::move(input), demands);
    REQUIRE(universe);
    return *std::move(universe);
}
using List = std::vector<std::string>;
} // namespace

TEST_CASE("the newest version whose dependencies can be met is chosen") {
    ToyChannel channel("c");
    channel.add("a", "1", "0", {"b <2"});
    channel.add("a", "2", "0", {"b >=2"});
    channel.add("b", "1");
    const auto universe = reach({&channel}, {"a"});
    CHECK(answer(universe, {"a"}) == List{"a-1-0", "b-1-0"});
}

TEST_CASE("a name is taken from the first channel that has it, whatever a later one has") {
    ToyChannel first("first");
    ToyChannel second("second");
    first.add("a", "1");
    second.add("a", "9");
    const auto universe = reach({&first, &second}, {"a", "a >=2"});
    CHECK(answer(universe, {"a"}) == List{"a-1-0"});
    CHECK(answer(universe, {"a >=2"}) == List{"none"});
}

TEST_CASE("constrains bind only a package that is there anyway") {
    ToyChannel channel("c");
    channel.add("a", "1", "0", {}, {"b <2"});
    channel.add("b", "1");
    channel.add("b", "2");
    const auto universe = reach({&channel}, {"a", "b"});
    CHECK(answer(universe, {"a"}) == List{"a-1-0"});
    CHECK(answer(universe, {"a", "b"}) == List{"a-1-0", "b-1-0"});
}

TEST_CASE("track_features make a build the last choice, a higher build number the first") {
    ToyChannel channel("c");
    channel.add("a", "1", "plain");
    channel.add("a", "1", "second").build_number = 1;
    auto& featured = channel.add("a", "2", "featured");
    featured.track_features = {"nomkl"};
    const auto universe = reach({&channel}, {"a", "a 2.*"});
    CHECK(answer(universe, {"a"}) == List{"a-1-second"});
    CHECK(answer(universe, {"a 2.*"}) == List{"a-2-featured"});
}

TEST_CASE("of equal builds the one whose dependency can be newer wins, then the later one") {
    ToyChannel channel("c");
    channel.add("python", "3.8");
    channel.add("python", "3.9");
    channel.add("a", "1", "py38", {"python 3.8.*"}).timestamp_ms = 9;
    channel.add("a", "1", "py39", {"python 3.9.*"}).timestamp_ms = 1;
    channel.add("b", "1", "early").timestamp_ms = 1;
    channel.add("b", "1", "late").timestamp_ms = 2;
    const auto universe = reach({&channel}, {"a", "b"});
    CHECK(answer(universe, {"a", "b"}) == List{"a-1-py39", "b-1-late", "python-3.9-0"});
}

TEST_CASE("a record with an invalid MatchSpec as dependency is never chosen, and is reported") {
    ToyChannel channel("c");
    channel.add("a", "1");
    channel.add("a", "2", "0", {"b >=,"});
    const auto universe = reach({&channel}, {"a"});
    CHECK(answer(universe, {"a"}) == List{"a-1-0"});
    CHECK(universe.unreadable().size() == 1);
}
