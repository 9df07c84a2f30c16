#include "solver/knowledge/knowledge.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace cudaenv;
using namespace cudaenv::knowledge;

TEST_CASE("the newest gcc that each toolkit accepts") {
    const auto [cuda, gcc] = GENERATE(table<std::string, int>({
        {"8.0", 5},
        {"9.0", 6},
        {"9.1", 6},
        {"9.2", 7},
        {"10.0", 7},
        {"10.0.130", 7},
        {"10.2", 8},
        {"11.0", 9},
        {"11.3", 10},
        {"11.3.1", 10},
        {"11.4", 11},
        {"11.8", 11},
        {"11.8.89", 11},
        {"12.3", 12},
        {"12.4", 13},
        {"12.8", 14},
        {"13.0", 15},
        {"13.5", 16},
    }));
    CAPTURE(cuda);
    const auto range = compilers_of_toolkit(DottedVersion::of(cuda));
    REQUIRE(range);
    CHECK(range->gcc_max == gcc);
    CHECK_FALSE(range->source.empty());
}

TEST_CASE("where a host_config.h was read it is the source, not a document") {
    CHECK(compilers_of_toolkit(DottedVersion::of("12.3"))->source.find("host_config.h") !=
          std::string::npos);
}

TEST_CASE("limits that moved within a minor are distinguished by build and by release") {
    CHECK(compilers_of_toolkit(DottedVersion::of("12.2.91"))->clang_max == 15);
    CHECK(compilers_of_toolkit(DottedVersion::of("12.2.0"))->clang_max == 15);
    CHECK(compilers_of_toolkit(DottedVersion::of("12.2.128"))->clang_max == 16);
    CHECK(compilers_of_toolkit(DottedVersion::of("12.2"))->clang_max == 16);
    CHECK(compilers_of_toolkit(DottedVersion::of("11.4.48"))->gcc_max == 10);
    CHECK(compilers_of_toolkit(DottedVersion::of("11.4.0"))->gcc_max == 10);
    CHECK(compilers_of_toolkit(DottedVersion::of("11.4.152"))->gcc_max == 11);
}

TEST_CASE("what no table contains stays unknown") {
    const auto nine_two = compilers_of_toolkit(DottedVersion::of("9.2"));
    REQUIRE(nine_two);
    CHECK_FALSE(nine_two->gcc_min);
    CHECK_FALSE(nine_two->clang_max);
    CHECK_FALSE(compilers_of_toolkit(DottedVersion::of("7.5")));
    CHECK_FALSE(compilers_of_toolkit(DottedVersion::of("12.7")));
}

TEST_CASE("every range is ordered, and a newer toolkit of a family never accepts less gcc") {
    std::optional<CompilerRange> before;
    unsigned family = 0;
    for (const DottedVersion& cuda : cuda_releases()) {
        const auto range = compilers_of_toolkit(cuda);
        if (!range) {
            continue;
        }
        CAPTURE(cuda.str());
        REQUIRE(range->gcc_max);
        CHECK(range->gcc_min.value_or(0) <= *range->gcc_max);
        if (range->clang_min && range->clang_max) {
            CHECK(*range->clang_min <= *range->clang_max);
        }
        if (before && family == cuda.major()) {
            CHECK(*before->gcc_max <= *range->gcc_max);
        }
        before = range;
        family = cuda.major();
    }
}
