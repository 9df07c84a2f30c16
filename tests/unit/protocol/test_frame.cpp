#include "protocol/frame.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::protocol;

TEST_CASE("lines come whole and in order however the bytes are cut") {
    const std::string text = "one\ntwo\r\n\nthree\nfour";
    for (std::size_t step = 1; step <= text.size(); ++step) {
        LineReader reader;
        std::vector<std::string> lines;
        for (std::size_t at = 0; at < text.size(); at += step) {
            REQUIRE(reader.feed(std::string_view(text).substr(at, step)));
            while (auto line = reader.next()) {
                lines.push_back(*line);
            }
        }
        CHECK(lines == std::vector<std::string>{"one", "two", "three"});
        CHECK(reader.pending() == 4);
    }
}

TEST_CASE("a line of exactly 1 MiB with its newline is taken, one byte more is refused for good") {
    LineReader fits;
    REQUIRE(fits.feed(std::string(k_most_frame_bytes - 1, 'x') + '\n'));
    CHECK(fits.next()->size() == k_most_frame_bytes - 1);

    LineReader outgrown;
    const auto refused = outgrown.feed(std::string(k_most_frame_bytes, 'x'));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == "frame-too-long");
    CHECK_FALSE(outgrown.feed("\nshort\n"));
    CHECK_FALSE(outgrown.next());
}

TEST_CASE("a line that is too long does not hide the whole line before it") {
    LineReader reader;
    CHECK_FALSE(reader.feed("first\n" + std::string(k_most_frame_bytes, 'x')));
    CHECK(reader.next() == "first");
    CHECK_FALSE(reader.next());
}

TEST_CASE("text that is not JSON is refused with its column") {
    const auto wrong = parse_json("{\"a\": }");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == "bad-json");
    CHECK(wrong.error().column == 7);
    CHECK_FALSE(parse_json(""));
    CHECK_FALSE(parse_json("{} {}"));
    CHECK_FALSE(parse_json("\"\xff\""));
}

TEST_CASE("values inside more than 64 others are refused, brackets within strings do not count") {
    CHECK(parse_json(std::string(64, '[') + std::string(64, ']')));
    const auto deep = parse_json(std::string(65, '[') + std::string(65, ']'));
    REQUIRE_FALSE(deep);
    CHECK(deep.error().code == "json-too-deep");
    CHECK(parse_json('"' + std::string(500, '[') + '"'));
}

TEST_CASE("a frame is one line, and bytes that are not UTF-8 are replaced, not fatal") {
    const auto line = encode_frame({{"path", "/p/\xff\n"}});
    REQUIRE(line);
    CHECK(line->find('\n') == line->size() - 1);
    CHECK(parse_json(line->substr(0, line->size() - 1))->at("path") == "/p/\xef\xbf\xbd\n");
    CHECK_FALSE(encode_frame(std::string(k_most_frame_bytes, 'x')));
}
