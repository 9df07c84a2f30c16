#include "protocol/message.hpp"

#include <catch2/catch_test_macros.hpp>

#include <vector>

using namespace cudaenv::protocol;

namespace {
Hello build(int protocol, const char* name, std::int64_t built) {
    return {protocol, name, {}, built, false, {}};
}
} // namespace

TEST_CASE("the newer build is decided by protocol, then by build time, then by version") {
    const Hello mine = build(2, "0.2.0+gaaa", 2000);
    CHECK(skew_of(build(2, "0.2.0+gaaa", 2000), mine) == Skew::Same);
    CHECK(skew_of(build(1, "9.0.0+gbbb", 9000), mine) == Skew::Older);
    CHECK(skew_of(build(3, "0.2.0+gaaa", 2000), mine) == Skew::Newer);
    CHECK(skew_of(build(2, "0.3.0+gbbb", 1000), mine) == Skew::Older);
    CHECK(skew_of(build(2, "0.1.0+gbbb", 3000), mine) == Skew::Newer);
    CHECK(skew_of(build(2, "0.1.0", 0), mine) == Skew::Older);
    CHECK(skew_of(build(2, "0.10.0", 0), mine) == Skew::Newer);
    CHECK(skew_of(build(2, "0.2.0+gbbb", 0), mine) == Skew::Unknown);
    CHECK(skew_of(build(2, "0.2.0+gaaa.changed", 2000), mine) == Skew::Unknown);
    CHECK(skew_of(build(2, "?", 0), mine) == Skew::Unknown);
}

TEST_CASE("no two builds are each newer than the other") {
    std::vector<Hello> builds;
    for (const int protocol : {1, 2}) {
        for (const char* name : {"0.1.0", "0.1.0+g1", "0.2.0+g2", "x"}) {
            for (const std::int64_t built : {0, 1000, 2000}) {
                builds.push_back(build(protocol, name, built));
            }
        }
    }
    for (const Hello& a : builds) {
        for (const Hello& b : builds) {
            const Skew there = skew_of(a, b);
            const Skew back = skew_of(b, a);
            CHECK((there == Skew::Older) == (back == Skew::Newer));
            CHECK((there == Skew::Same) == (back == Skew::Same));
        }
    }
}

TEST_CASE("a hello keeps what it says of itself on the wire") {
    Hello hello = own_hello();
    hello.listening = true;
    hello.why_not_listening = "it leaves";
    const auto read = hello_from_json(hello_to_json(hello));
    REQUIRE(read);
    CHECK(read->built == hello.built);
    CHECK(read->listening);
    CHECK(read->why_not_listening == "it leaves");
    CHECK(skew_of(*read, own_hello()) == Skew::Same);
    CHECK_FALSE(hello_from_json({{"protocol", 1}, {"built", -1}}));
}
