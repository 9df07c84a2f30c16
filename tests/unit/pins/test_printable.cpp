#include "base/printable.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;

TEST_CASE("a name that a terminal can show comes back unchanged") {
    CHECK(printable("/home/u/\xC3\xA4 b/\xE4\xBD\xA0/\xF0\x9F\x98\x80") ==
          "/home/u/\xC3\xA4 b/\xE4\xBD\xA0/\xF0\x9F\x98\x80");
    CHECK(printable("").empty());
}

TEST_CASE("newlines, control characters and bytes that are not UTF-8 are written out") {
    CHECK(printable("a\nb\tc\rd\x1b[0m\x7f") == "a\\nb\\tc\\rd\\x1b[0m\\x7f");
    CHECK(printable("\xff\xC3") == "\\xff\\xc3");
    CHECK(printable("\xC0\xAF") == "\\xc0\\xaf");                   // overlong
    CHECK(printable("\xED\xA0\x80") == "\\xed\\xa0\\x80");          // surrogate
    CHECK(printable("\xF4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80"); // beyond Unicode
    CHECK(printable("\xC2\x9B") == "\\xc2\\x9b");                   // C1 control
    CHECK(printable(std::string_view("\0", 1)) == "\\x00");
}

TEST_CASE("a long quotation is cut between characters") {
    CHECK(quoted("abc") == "\"abc\"");
    CHECK(quoted("a\xC3\xA4\xC3\xA4", 4) == "\"a\xC3\xA4...\"");
    CHECK(quoted(std::string(1000, 'x')).size() < 100);
}

TEST_CASE("what turns the direction of text or ends a line unseen is written out") {
    CHECK(printable("a\xE2\x80\xAE"
                    "b") == "a\\xe2\\x80\\xaeb"); // U+202E
    for (const char* unseen : {"\xD8\x9C", "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xA8",
                               "\xE2\x80\xA9", "\xE2\x80\xAA", "\xE2\x81\xA6", "\xE2\x81\xA9"}) {
        CHECK(printable(unseen).find('\\') == 0);
    }
    // Their neighbours are shown: U+061B, U+200D (in many emoji), U+2010, U+202F, U+206A.
    for (const char* shown :
         {"\xD8\x9B", "\xE2\x80\x8D", "\xE2\x80\x90", "\xE2\x80\xAF", "\xE2\x81\xAA"}) {
        CHECK(printable(shown) == shown);
    }
}

TEST_CASE("JSON has these as numbers, and stays what it says") {
    CHECK(printable_json("{\"a\":\n \"\xE2\x80\xAE\xC2\x9B\x7F\xC3\xA4\xF0\x9F\x98\x80\"}\n") ==
          "{\"a\":\n \"\\u202e\\u009b\\u007f\xC3\xA4\xF0\x9F\x98\x80\"}\n");
    CHECK(printable_json("").empty());
}
