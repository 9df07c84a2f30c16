#include "cli/progress_line.hpp"

#include <catch2/catch_test_macros.hpp>

#include <map>

using namespace cudaenv::cli;

namespace {
Variables of(std::map<std::string, const char*> values) {
    return [values = std::move(values)](const char* name) -> const char* {
        const auto found = values.find(name);
        return found == values.end() ? nullptr : found->second;
    };
}
const Terminal k_terminal{true, 80};
const Terminal k_pipe{};
} // namespace

TEST_CASE("colour is the option's, then NO_COLOR's, CLICOLOR_FORCE's, CLICOLOR's, TERM's, the "
          "terminal's") {
    CHECK(wants_colour(ColourWish::Always, k_pipe, of({{"NO_COLOR", "1"}})));
    CHECK_FALSE(wants_colour(ColourWish::Never, k_terminal, of({{"CLICOLOR_FORCE", "1"}})));
    CHECK_FALSE(wants_colour(ColourWish::Auto, k_terminal,
                             of({{"NO_COLOR", "1"}, {"CLICOLOR_FORCE", "1"}})));
    CHECK(wants_colour(ColourWish::Auto, k_terminal, of({{"NO_COLOR", ""}})));
    CHECK(wants_colour(ColourWish::Auto, k_pipe, of({{"CLICOLOR_FORCE", "1"}, {"CLICOLOR", "0"}})));
    CHECK_FALSE(wants_colour(ColourWish::Auto, k_pipe, of({{"CLICOLOR_FORCE", "0"}})));
    CHECK_FALSE(wants_colour(ColourWish::Auto, k_terminal, of({{"CLICOLOR", "0"}})));
    CHECK_FALSE(wants_colour(ColourWish::Auto, k_terminal, of({{"TERM", "dumb"}})));
    CHECK(wants_colour(ColourWish::Auto, k_terminal, of({{"TERM", "xterm"}})));
    CHECK_FALSE(wants_colour(ColourWish::Auto, k_pipe, of({{"TERM", "xterm"}})));
}

TEST_CASE("LC_ALL decides the characters before LC_CTYPE before LANG") {
    CHECK(locale_is_utf8(of({{"LANG", "de_DE.utf8"}})));
    CHECK_FALSE(locale_is_utf8(of({{"LC_ALL", "C"}, {"LANG", "de_DE.UTF-8"}})));
    CHECK(locale_is_utf8(of({{"LC_ALL", ""}, {"LC_CTYPE", "C.UTF-8"}, {"LANG", "C"}})));
    CHECK_FALSE(locale_is_utf8(of({})));
}
