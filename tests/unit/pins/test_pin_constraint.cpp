#include "solver/pins/pins.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <random>

using namespace cudaenv;
using namespace cudaenv::pins;

namespace {

PinConstraint read(std::string_view text) {
    auto constraint = PinConstraint::parse(text);
    INFO(text << ": " << (constraint ? "" : constraint.error().message));
    REQUIRE(constraint);
    return *std::move(constraint);
}

bool allows(std::string_view constraint, std::string_view version) {
    return read(constraint).allows(DottedVersion::of(version));
}

} // namespace

TEST_CASE("a bare version is a prefix by whole parts") {
    for (const char* prefix : {"11.3", "=11.3", "11.3.*", "=11.3.*", "==11.3.*", " 11.3 "}) {
        INFO(prefix);
        CHECK(allows(prefix, "11.3"));
        CHECK(allows(prefix, "11.3.109"));
        CHECK_FALSE(allows(prefix, "11.30"));
        CHECK_FALSE(allows(prefix, "11.4"));
        CHECK_FALSE(allows(prefix, "11"));
        CHECK(read(prefix).str() == "11.3");
    }
    CHECK(allows("11", "11.8.89"));
    CHECK(allows("11.*", "11.8"));
    CHECK(allows("11.0", "11")); // conda: missing parts are 0
}

TEST_CASE("== is exact") {
    CHECK(allows("==11.3.1", "11.3.1"));
    CHECK(allows("==11.3", "11.3.0"));
    CHECK_FALSE(allows("==11.3", "11.3.1"));
}

TEST_CASE("conditions between commas must all hold") {
    CHECK(allows(">=2.1,<2.4", "2.1"));
    CHECK(allows(">=2.1, <2.4", "2.3.9"));
    CHECK_FALSE(allows(">=2.1,<2.4", "2.4"));
    CHECK_FALSE(allows(">=2.1,<2.4,!=2.2.*", "2.2.1"));
    CHECK(allows(">=2.1,<2.4,!=2.2", "2.2.1"));
    CHECK_FALSE(allows(">=2.1,<2.4,!=2.2", "2.2.0"));
    CHECK(allows(">8", "8.1"));
    CHECK_FALSE(allows("<=8", "8.1"));
    CHECK(allows("~=2.1", "2.9"));
    CHECK_FALSE(allows("~=2.1", "3.0"));
    CHECK_FALSE(allows("~=2.1.3", "2.2"));
    CHECK(allows("*", "0"));
}

TEST_CASE("a constraint is written for conda and for pip in their own words") {
    struct Case {
        const char* pin;
        const char* conda;
        const char* pip;
    };
    const auto c =
        GENERATE(Case{"11.3", "11.3.*", "==11.3.*"}, Case{"==11.3.1", "==11.3.1", "==11.3.1"},
                 Case{">=2.1, <2.4", ">=2.1,<2.4", ">=2.1,<2.4"}, Case{"*", "*", ""},
                 Case{"!=2.2.*", "!=2.2.*", "!=2.2.*"}, Case{"~=2.1", "~=2.1", "~=2.1"});
    CHECK(read(c.pin).conda_version_spec() == c.conda);
    CHECK(read(c.pin).pip_specifier() == c.pip);
}

TEST_CASE("only a lone version is a single one") {
    CHECK(read("11.3").single()->str() == "11.3");
    CHECK(read("==11.3.1").single()->str() == "11.3.1");
    CHECK_FALSE(read(">=11").single());
    CHECK_FALSE(read("11.3,!=11.3.1").single());
}

TEST_CASE("a wrong constraint says what is wrong, where, and what would be right") {
    struct Case {
        const char* text;
        const char* message;
        const char* hint;
        int column;
    };
    const auto c = GENERATE(
        Case{"eleven", "\"eleven\" is not a version", "expected digits and dots, as in 11.3", 1},
        Case{">=2.1, <x", "\"x\" is not a version", "expected digits and dots, as in 11.3", 9},
        Case{"", "a version is missing", "as in 11.3, ==11.3.1 or >=2.1,<2.4", 1},
        Case{"==", "a version is missing after ==", "as in 11.3, ==11.3.1 or >=2.1,<2.4", 3},
        Case{"11.3,", "a version is missing", "as in 11.3, ==11.3.1 or >=2.1,<2.4", 6},
        Case{">=11.*", "a star cannot follow >=", "write >=11", 3},
        Case{"~=2", "~= needs two parts or more, and \"2\" has one",
             "write 2 for everything that begins with it", 3},
        Case{"11.3.", "\"11.3.\" is not a version", "expected digits and dots, as in 11.3", 1},
        Case{"===11", "\"=11\" is not a version", "expected digits and dots, as in 11.3", 3},
        Case{">=3,<2", "no version satisfies \">=3,<2\"",
             "all conditions between commas must hold at once", 1},
        Case{"11.3,12", "no version satisfies \"11.3,12\"",
             "all conditions between commas must hold at once", 1},
        Case{"==2,!=2.0", "no version satisfies \"==2,!=2.0\"",
             "all conditions between commas must hold at once", 1});
    INFO(c.text);
    const auto read = PinConstraint::parse(c.text);
    REQUIRE_FALSE(read);
    CHECK(read.error().message == c.message);
    CHECK(read.error().hint == c.hint);
    CHECK(read.error().column == c.column);
    CHECK(read.error().kind == ErrorKind::BadInput);
}

TEST_CASE("a message shows no control characters of what was typed") {
    const auto read = PinConstraint::parse("11\x1b[31m\n");
    REQUIRE_FALSE(read);
    CHECK(read.error().message == "\"11\\x1b[31m\\n\" is not a version");
}

// Every combination of two clauses over small versions, against the definition: contradictory means
// that no version up to three parts of 0..4 is allowed.
TEST_CASE("what is refused as contradictory allows no version, and what is read allows one") {
    const std::array<const char*, 5> versions{"0", "1", "1.2", "2.0", "3"};
    const std::array<const char*, 9> signs{"", "==", ">=", ">", "<=", "<", "!=", "~=", "!=*"};
    std::vector<DottedVersion> all;
    for (const char* a : {"0", "1", "2", "3", "4"}) {
        all.push_back(DottedVersion::of(a));
        for (const char* b : {".0", ".1", ".2", ".3", ".4"}) {
            all.push_back(DottedVersion::of(std::string(a) + b));
            for (const char* c : {".0", ".1", ".2"}) {
                all.push_back(DottedVersion::of(std::string(a) + b + c));
            }
        }
    }
    std::vector<std::string> clauses;
    for (const char* sign : signs) {
        for (const char* version : versions) {
            if (std::string_view(sign) != "~=" ||
                std::string_view(version).find('.') != std::string_view::npos) {
                const bool starred = std::string_view(sign) == "!=*";
                clauses.push_back((starred ? "!=" : sign) + std::string(version) +
                                  (starred ? ".*" : ""));
            }
        }
    }
    int refused = 0;
    for (const std::string& first : clauses) {
        for (const std::string& second : clauses) {
            const std::string text = first + ',' + second;
            const auto both = PinConstraint::parse(text);
            bool any = false;
            const auto a = PinConstraint::parse(first);
            const auto b = PinConstraint::parse(second);
            for (const DottedVersion& version : all) {
                const bool expected = a && b && a->allows(version) && b->allows(version);
                any = any || expected;
                if (both) {
                    REQUIRE(both->allows(version) == expected);
                }
            }
            INFO(text);
            REQUIRE(both.has_value() == any);
            refused += both ? 0 : 1;
            if (both) {
                const auto again = PinConstraint::parse(both->str());
                REQUIRE(again);
                REQUIRE(again->str() == both->str());
                const auto conda = PinConstraint::parse(both->conda_version_spec());
                REQUIRE(conda);
                REQUIRE(conda->str() == both->str());
            }
        }
    }
    CHECK(refused > 100);
}
