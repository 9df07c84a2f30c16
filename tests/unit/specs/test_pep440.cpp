#include "solver/specs/pep440.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <string>
#include <vector>

using namespace cudaenv::specs;

namespace {
Pep440Version version(const std::string& text) {
    const auto parsed = Pep440Version::parse(text);
    INFO(text);
    REQUIRE(parsed);
    return *parsed;
}
bool contains(const std::string& specifiers, const std::string& text,
              Prereleases prereleases = Prereleases::Allowed) {
    const auto set = SpecifierSet::parse(specifiers);
    INFO(specifiers);
    REQUIRE(set);
    return set->contains(text, prereleases);
}
} // namespace

TEST_CASE("Python's versions stand in PEP 440's order") {
    const std::vector<std::string> order = {
        "1.0.dev1", "1.0a1.dev1", "1.0a1",          "1.0b2",     "1.0rc1",   "1.0",  "1.0+abc",
        "1.0+5",    "1.0+5.1",    "1.0.post1.dev1", "1.0.post1", "1.1.dev1", "1.10", "1!0.1"};
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        INFO(order[i] << " < " << order[i + 1]);
        CHECK(version(order[i]) < version(order[i + 1]));
    }
    CHECK(version("1.0") == version("1.0.0"));
    CHECK(version("1.0c1") == version("v1.0-RC_1"));
    CHECK(version("1.0-1") == version("1.0.post1"));
}

TEST_CASE("a version is written in its normal form") {
    CHECK(version("v1.0-ALPHA").normal() == "1.0a0");
    CHECK(version("1!01.02-r3_DEV4+Cu_118").normal() == "1!1.2.post3.dev4+cu.118");
}

TEST_CASE("what is no Python version is refused") {
    const auto text = GENERATE("", "1.0.x", "1..0", "a1", "1.0+", "1.0++a", "1.0-", "1!!2", "1.*");
    const auto parsed = Pep440Version::parse(text);
    INFO(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().column > 0);
}

TEST_CASE("equality looks over a local part that is not asked for") {
    CHECK(contains("==2.4", "2.4.0+cu124"));
    CHECK(contains("==2.4.0+cu124", "2.4.0+cu124"));
    CHECK_FALSE(contains("==2.4.0+cu124", "2.4.0"));
    CHECK_FALSE(contains("!=2.4", "2.4+cu118"));
    CHECK(contains("<=2.4", "2.4+cu118"));
    CHECK_FALSE(contains(">2.4", "2.4+cu118"));
}

TEST_CASE("prefixes, compatible releases and exact texts") {
    CHECK(contains("==1.4.*", "1.4.9"));
    CHECK(contains("==1.4.*", "1.4a1"));
    CHECK_FALSE(contains("==1.4.*", "1.40"));
    CHECK(contains("!=1.4.*", "1.5"));
    CHECK(contains("~=1.4.2", "1.4.9"));
    CHECK_FALSE(contains("~=1.4.2", "1.5"));
    CHECK(contains("~=1.4", "1.9"));
    CHECK(contains("===1.0-X", "1.0-x"));
    CHECK(contains("===dev", "dev"));
    CHECK_FALSE(contains(">=1", "no version"));
}

TEST_CASE("less and greater keep a version's own pre- and post-releases out") {
    CHECK_FALSE(contains("<1.0", "1.0a1"));
    CHECK(contains("<1.0rc1", "1.0a1"));
    CHECK(contains("<1.0.post1", "1.0rc1"));
    CHECK_FALSE(contains("<1.0.post1", "1.0.post1.dev1"));
    CHECK_FALSE(contains(">1.0", "1.0.post1"));
    CHECK(contains(">1.0.post1", "1.0.post2"));
    CHECK(contains(">1.0a1", "1.0.post1"));
    CHECK(contains(">=1.0", "1.0.post1"));
}

TEST_CASE("pre-releases are used if one is named, and refused or allowed on request") {
    CHECK_FALSE(contains(">=1.0", "2.0rc1", Prereleases::IfNamed));
    CHECK(contains(">=2.0rc1", "2.0rc2", Prereleases::IfNamed));
    CHECK_FALSE(contains("!=2.0rc1", "2.0rc2", Prereleases::IfNamed));
    CHECK_FALSE(contains(">=2.0rc1", "2.0rc2", Prereleases::Refused));
    CHECK(contains(">=1.0", "2.0rc1", Prereleases::Allowed));
    CHECK(contains("", "2.0", Prereleases::IfNamed));
}

TEST_CASE("a bad clause is refused at its column") {
    struct Bad {
        std::string text;
        int column;
    };
    const auto bad = GENERATE(values<Bad>({{"==", 3},
                                           {"=1.0", 1},
                                           {">=1.0,<", 8},
                                           {">=1.0.*", 6},
                                           {"~=1", 3},
                                           {">=1.0+cu118", 6},
                                           {"==1.0a1.*", 3},
                                           {"==1.x", 4},
                                           {"1.0", 1}}));
    const auto parsed = SpecifierSet::parse(bad.text);
    INFO(bad.text);
    REQUIRE_FALSE(parsed);
    INFO(parsed.error().message);
    CHECK(parsed.error().code == "bad-requirement");
    CHECK(parsed.error().column == bad.column);
}
