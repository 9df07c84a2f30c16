#include "cli/commands/file_changes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <random>

using namespace cudaenv::cli;

namespace {

// Lines that have something to do with the marks, and bytes that have not.
std::string random_text(std::mt19937& random) {
    constexpr const char* k_pieces[] = {
        "alias a=b",          "\n", "\r\n", "",  "# >>> conda >>>\n",
        " # >>> cudaenv >>>", "\n", "\xff", "\t"};
    std::string text;
    for (auto count = random() % 8; count > 0; --count) {
        text += k_pieces[random() % std::size(k_pieces)];
    }
    return text;
}

} // namespace

TEST_CASE("a block is put in once and taken out without a trace, whatever the text") {
    std::mt19937 random(20261121);
    for (int round = 0; round < 2000; ++round) {
        const std::string text = random_text(random);
        INFO(text);
        const auto with = with_block(text, "ours\n");
        REQUIRE(with);
        CHECK(with->starts_with(text));
        CHECK(with_block(*with, "ours\n") == *with);
        CHECK(without_block(*with) == text);
        CHECK(without_block(text) == text);
        const auto newer = with_block(*with, "newer\n");
        REQUIRE(newer);
        CHECK(without_block(*newer) == text);
    }
}

TEST_CASE("what was written behind the block stays, on lines of its own") {
    const auto with = with_block("first", "ours\n");
    REQUIRE(with);
    CHECK(without_block(*with + "later\n") == "first\nlater\n");
}

TEST_CASE("a block without an end is not guessed at") {
    const auto broken = without_block("a\n# >>> cudaenv >>>\nb\n");
    REQUIRE_FALSE(broken);
    CHECK(broken.error().line == 2);
}
