#include "solver/specs/version.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <string>

using cudaenv::specs::Version;

namespace {
Version version(const std::string& text) {
    const auto parsed = Version::parse(text);
    INFO(text);
    REQUIRE(parsed);
    return *parsed;
}
} // namespace

TEST_CASE("missing parts of a version count as zero") {
    CHECK(version("1.1") == version("1.1.0"));
    CHECK(version("2.4") == version("2.4.0.0"));
    CHECK(version("1.1a1") != version("1.1.a1"));
    CHECK(version("1.1.a1") == version("1.1.0a1"));
}

TEST_CASE("versions stand in conda's order") {
    // Each below the next.
    const std::vector<std::string> order = {
        "0.4",        "0.4.1.rc", "0.4.1",      "0.5a1",    "0.5b3",     "0.5C1",  "0.5",
        "0.9.6",      "0.960923", "1.0",        "1.1*",     "1.1dev1",   "1.1_",   "1.1a1",
        "1.1.*",      "1.1.dev1", "1.1.a1",     "1.1.0rc1", "1.1+cu113", "1.1",    "1.1+1",
        "1.1.0post1", "1.1post1", "1996.07.12", "1!0.4.1",  "1!3.1.1.6", "2!0.4.1"};
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        INFO(order[i] << " < " << order[i + 1]);
        CHECK(version(order[i]) < version(order[i + 1]));
        CHECK(version(order[i + 1]) > version(order[i]));
    }
}

TEST_CASE("case, white space at the ends and a dash for an underscore do not matter") {
    CHECK(version("1.0RC1") == version("1.0rc1"));
    CHECK(version("  1.0 ") == version("1.0"));
    CHECK(version("1.0-1") == version("1.0_1"));
    CHECK(version("1.0-1").normal() == "1.0_1");
    CHECK(version(" 1.0RC1").str() == " 1.0RC1");
}

TEST_CASE("numbers of any length are compared by value") {
    CHECK(version("1.20240101000000000000001") > version("1.20240101000000000000000"));
    CHECK(version("1.99999999999999999999") < version("1.100000000000000000000"));
    CHECK(version("1.18446744073709551616") > version("1.18446744073709551615"));
    CHECK(version("1.000000000000000000000000000007") == version("1.7"));
    CHECK(version("1*99999999999999999999999") < version("1*post"));
}

TEST_CASE("words longer than eight letters are distinguished") {
    CHECK(version("1.abcdefghi") < version("1.abcdefghj"));
    CHECK(version("1.abcdefgh") < version("1.abcdefgha"));
    CHECK(version("1.abcdefgh") == version("1.ABCDEFGH"));
}

TEST_CASE("a version starts with its own beginnings") {
    CHECK(version("1.7.1").starts_with(version("1.7")));
    CHECK(version("1.7").starts_with(version("1.7")));
    CHECK(version("1.7.0").starts_with(version("1.7.0")));
    CHECK(version("1.7").starts_with(version("1.7.0")));
    CHECK_FALSE(version("1.70").starts_with(version("1.7")));
    CHECK(version("1.7a1").starts_with(version("1.7")));
    CHECK(version("1.7alpha").starts_with(version("1.7a")));
    CHECK_FALSE(version("1.7").starts_with(version("1.7a")));
    CHECK_FALSE(version("1!1.7").starts_with(version("1.7")));
    CHECK(version("1.2.3+cu113").starts_with(version("1.2")));
    CHECK(version("1.2.3+cu113").starts_with(version("1.2.3+cu")));
    CHECK_FALSE(version("1.2.4+cu113").starts_with(version("1.2.3+cu113")));
}

TEST_CASE("what is no version is refused with its column") {
    struct Case {
        std::string text;
        int column;
    };
    const auto [text, column] = GENERATE(values<Case>({{"", 1},
                                                       {"   ", 1},
                                                       {"1.0..2", 5},
                                                       {"1.0__2", 5},
                                                       {"_1.0", 1},
                                                       {"1.0.", 5},
                                                       {"1.0~rc", 4},
                                                       {"a!1.0", 1},
                                                       {"!1.0", 1},
                                                       {"1!2!3", 4},
                                                       {"1.0+a+b", 6},
                                                       {"+cu113", 1},
                                                       {"1.0+", 5},
                                                       {"1_0-1", 4},
                                                       {" 1 0", 3}}));
    const auto parsed = Version::parse(text);
    INFO(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == "bad-version");
    CHECK(parsed.error().column == column);
    CHECK_FALSE(parsed.error().message.empty());
}

TEST_CASE("a number of more than 4300 digits is refused, as conda refuses it") {
    CHECK(Version::parse(std::string(4300, '9')));
    CHECK_FALSE(Version::parse(std::string(4301, '9')));
    CHECK_FALSE(Version::parse(std::string(4301, '0')));
}
