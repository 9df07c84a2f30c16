#include "cli/render/style.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::cli;

TEST_CASE("the width of text is its characters, not its bytes or its colours") {
    CHECK(width_of("✓ gcc · 9") == 9);
    Style style;
    style.colour = true;
    CHECK(width_of(tick(style, State::Breaks)) == 1);
    CHECK(width_of(coloured(style, State::Warns, "four")) == 4);
}

TEST_CASE("signs are spelled out where the locale is not UTF-8") {
    Style ascii;
    ascii.utf8 = false;
    CHECK(in_locale(ascii, "a · b ≥ c") == "a, b >= c");
    CHECK(tick(ascii, State::Fits) == "ok");
    CHECK(tick(ascii, State::Warns) == "!");
    CHECK(tick(ascii, State::Breaks) == "x");
}

TEST_CASE("colour is there only when asked for") {
    Style style;
    CHECK(tick(style, State::Fits) == "✓");
    style.colour = true;
    CHECK(tick(style, State::Fits) == "\x1b[32m✓\x1b[0m");
}

TEST_CASE("a path is shortened only by whole directories") {
    Style style;
    style.home = "/home/u";
    style.cwd = "/home/u/code";
    CHECK(short_path(style, "/home/u/x") == "~/x");
    CHECK(short_path(style, "/home/ulf/x") == "/home/ulf/x");
    CHECK(message_path(style, "/home/u/code/cudaenv.toml") == "./cudaenv.toml");
    CHECK(message_path(style, "/home/u/workshop/a") == "~/workshop/a");
}

TEST_CASE("text is broken at spaces, and a word that is too long stays whole") {
    CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
    CHECK(wrapped("toolongaword x", 4) == std::vector<std::string>{"toolongaword", "x"});
    CHECK(wrapped("", 4) == std::vector<std::string>{""});
}

TEST_CASE("a command too wide is continued with a backslash before an option") {
    Style style;
    style.columns = 40;
    Page page(style);
    page.command(2, "pip install torch==1.12.1+cu113 --extra-index-url https://x");
    CHECK(page.text() ==
          "  pip install torch==1.12.1+cu113 \\\n      --extra-index-url https://x\n");
}

TEST_CASE("a command is never broken within quotes") {
    Style style;
    style.columns = 30;
    Page page(style);
    page.command(2, "conda install 'numpy >=1.19,<2' 'x y z' -c a");
    CHECK(page.text() == "  conda install \\\n      'numpy >=1.19,<2' \\\n      'x y z' -c a\n");
}
