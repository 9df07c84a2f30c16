#include "solver/specs/match_spec.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <ctime>
#include <string>

using namespace cudaenv::specs;

namespace {
struct Bad {
    std::string text;
    int column;
    std::string says; // a part of the message or the hint
};
} // namespace

TEST_CASE("a broken spec is refused at the column where it stops making sense") {
    const auto bad = GENERATE(values<Bad>({
        {"torch==", 8, "no version follows \"==\""},
        {"numpy >=", 9, "no version follows"},
        {"numpy >=1.0,", 12, "joins nothing"},
        {"numpy>1.0|", 10, "joins nothing"},
        {"==1.0", 1, "no package name"},
        {"=", 1, "no package name"},
        {" numpy", 1, "no package name"},
        {"[version=1]", 1, "no package name"},
        {"nump$y", 5, "package names do not have"},
        {"a..b", 1, "is not a package name"},
        {"numpy ~=1.*", 10, "takes no \".*\""},
        {"numpy <=>1", 7, "is not an operator"},
        {"numpy <>1", 7, "is not an operator"},
        {"numpy 1..2", 9, "a part is empty"},
        {"numpy >=1.0,<1~2", 15, "character that versions do not have"},
        {"numpy[foo=1]", 7, "is not a key"},
        {"numpy[buld=1]", 7, "did you mean build?"},
        {"numpy[version=]", 7, "has no value"},
        {"numpy[a=1][b=2]", 6, "more than one pair of brackets"},
        {"numpy[build_number='>=']", 23, "no version follows"},
        {"numpy[build='^a(b$']", 14, "regular expression"},
        {"numpy ^1", 7, "ends with $"},
        {"https://host/linux-64/numpy.conda", 23, "a name, a version and a build"},
    }));
    INFO(bad.text);
    const auto parsed = MatchSpec::parse(bad.text);
    REQUIRE_FALSE(parsed);
    INFO(parsed.error().message << " | " << parsed.error().hint);
    CHECK(parsed.error().code == "bad-spec");
    CHECK(parsed.error().column == bad.column);
    CHECK((parsed.error().message + parsed.error().hint).find(bad.says) != std::string::npos);
}

TEST_CASE("a password in a refused spec is not repeated") {
    const auto parsed = MatchSpec::parse("https://user:secret@host/t/token/c::numpy==");
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().message.find("secret") == std::string::npos);
    CHECK(parsed.error().message.find("token") == std::string::npos);
}

TEST_CASE("hostile specs cost little") {
    const std::clock_t begin = std::clock();
    const std::string deep(50'000, '(');
    CHECK_FALSE(MatchSpec::parse("numpy[version='" + deep + "1" + std::string(50'000, ')') + "']"));
    CHECK_FALSE(MatchSpec::parse("numpy[version='" + deep));
    const auto nested =
        MatchSpec::parse("numpy[build='^(((((a*)*)*)*)*)*(a|a|b*)*(a?){40}a{40}c$']");
    REQUIRE(nested);
    PackageRecord record;
    record.version = "1";
    record.build = std::string(2'000, 'a');
    const auto version = Version::parse("1");
    CHECK_FALSE(nested->matches(record, *version));
    const auto globs = MatchSpec::parse("numpy * " + [] {
        std::string stars;
        for (int i = 0; i < 50; ++i) {
            stars += "*a";
        }
        return stars + "*b";
    }());
    REQUIRE(globs);
    CHECK_FALSE(globs->matches(record, *version));
    CHECK_FALSE(MatchSpec::parse("numpy[build='^((((a{1000}){1000}){1000}){1000})$']"));
    std::string alternatives = "1";
    for (int i = 0; i < 20'000; ++i) {
        alternatives += "|1";
    }
    CHECK(MatchSpec::parse("numpy " + alternatives));
    const std::string long_tail = "numpy " + std::string(200'000, '<');
    CHECK_FALSE(MatchSpec::parse(long_tail));
    // Generous: sanitizers slow this down tenfold. Without the guards it would take hours.
    CHECK((std::clock() - begin) / CLOCKS_PER_SEC < 30);
}
