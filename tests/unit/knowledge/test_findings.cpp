#include "solver/knowledge/findings.hpp"

#include <catch2/catch_test_macros.hpp>

#include <regex>
#include <set>
#include <stdexcept>

using namespace cudaenv;
using knowledge::filled;

TEST_CASE("a template shows its arguments, plurals, and groups whose condition holds") {
    CHECK(filled("driver {driver} gives CUDA {cuda}", {{"driver", "550"}, {"cuda", "12.4"}}) ==
          "driver 550 gives CUDA 12.4");
    CHECK(filled("{n} {n|file|files}", {{"n", "1"}}) == "1 file");
    CHECK(filled("{n} {n|file|files}", {{"n", "0"}}) == "0 files");
    CHECK(filled("a{?b}, {b}{/}{!b}, none{/}", {{"b", "x"}}) == "a, x");
    CHECK(filled("a{?b}, {b}{/}{!b}, none{/}", {{"b", ""}}) == "a, none");
    CHECK(filled("a{?b}, {b}{/}", {}) == "a");
}

TEST_CASE("a missing argument and a malformed template are defects") {
    CHECK_THROWS_AS(filled("{driver}", {}), std::logic_error);
    CHECK_THROWS_AS(filled("{driver", {{"driver", "1"}}), std::logic_error);
    CHECK_THROWS_AS(filled("{n|one}", {{"n", "1"}}), std::logic_error);
    CHECK_THROWS_AS(knowledge::finding_case("CE999"), std::logic_error);
}

TEST_CASE("every case is of one code and situation, and renders with the arguments it names") {
    std::set<std::pair<std::string, std::string>> seen;
    for (const auto& one : knowledge::finding_cases()) {
        CAPTURE(one.code, one.situation);
        CHECK(seen.emplace(one.code, one.situation).second);
        CHECK_FALSE(one.title.empty());
        facts::Arguments arguments;
        const std::regex name(R"(\{[?!]?([a-z_]+))");
        for (const std::string& text : {one.title, one.cause, one.fix, one.command}) {
            for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
                arguments.emplace_back((*at)[1], "2");
            }
        }
        const auto made = knowledge::finding(one.code, one.situation, arguments);
        CHECK(made.title.find('{') == std::string::npos);
        CHECK(made.cause.find('{') == std::string::npos);
    }
}
