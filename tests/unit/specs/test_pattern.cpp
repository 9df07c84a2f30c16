#include "solver/specs/pattern.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <string>

using cudaenv::specs::glob_matches;
using cudaenv::specs::Regex;

namespace {
bool matches(const std::string& expression, const std::string& text) {
    const auto regex = Regex::compile(expression);
    INFO(expression << (regex ? "" : ": " + regex.error().message));
    REQUIRE(regex);
    return regex->matches(text);
}
} // namespace

TEST_CASE("a star in a glob stands for any text") {
    CHECK(glob_matches("*", ""));
    CHECK(glob_matches("py3*_0", "py38_0"));
    CHECK(glob_matches("*cuda11.0*", "py3.8_cuda11.0.221_cudnn8.0.5_0"));
    CHECK(glob_matches("a*b*c", "abbbcbc"));
    CHECK_FALSE(glob_matches("a*b*c", "abbb"));
    CHECK_FALSE(glob_matches("py3.8*", "py318"));
    CHECK_FALSE(glob_matches("a*b", "a\nb"));
    CHECK(glob_matches("**", "x"));
}

TEST_CASE("regular expressions match from the beginning") {
    CHECK(matches("^1\\.(2|3)[0-9]$", "1.25"));
    CHECK_FALSE(matches("^1\\.(2|3)[0-9]$", "1.45"));
    CHECK(matches("^a", "ab"));
    CHECK(matches("^a|b$", "ac"));
    CHECK(matches("^py\\d{2,3}_\\d+$", "py310_0"));
    CHECK_FALSE(matches("^py\\d{2}_\\d+$", "py310_0"));
    CHECK(matches("^[^a-c]+$", "xyz"));
    CHECK_FALSE(matches("^[^a-c]+$", "xaz"));
    CHECK(matches("^[]a]$", "]"));
    CHECK(matches("^(?:ab)*?$", "abab"));
    CHECK(matches("^(?P<x>a)b{,2}$", "abb"));
    CHECK(matches("^a{x$", "a{x"));
    CHECK(matches("^\\x41\\.\\-$", "A.-"));
    CHECK(matches("^a\\b.*$", "a-b"));
    CHECK_FALSE(matches("^a\\b.*$", "ab"));
}

TEST_CASE("what RE2 reads differently keeps Python's meaning") {
    CHECK(matches("^ab{,2}$", "abb"));
    CHECK(matches("^a{,x$", "a{,x"));
    CHECK(matches("^{,$", "{,"));
    CHECK(matches("^[[:alpha:]]$", "a]"));
    CHECK_FALSE(matches("^[[:alpha:]]$", "b"));
    CHECK(matches("^py\\_0$", "py_0"));
    CHECK(matches("^a$", "a\n"));
    CHECK(matches("^a\\Z$", "a"));
    CHECK(matches("^.$", "\u00e9"));
}

TEST_CASE("a broken or unsupported expression is refused with its column") {
    const auto expression =
        GENERATE("^(a$", "^a)$", "^[a$", "^*$", "^a**$", "^a{2,1}$", "^\\q$", "^(a)\\1$", "^(?>a)$",
                 "^[z-a]$", "^(?<=a*)b$", "^(?i)a$", "^a{1,100000}$", "a\\", "^(?=a)a$", "^(?!a)b$",
                 "^a(?<=a)b$", "^a*+b$", "^\\pL$", "^\\x{41}$", "^\\z$", "^\\b*$", "^(*)$", "^[a");
    const auto regex = Regex::compile(expression);
    INFO(expression);
    REQUIRE_FALSE(regex);
    CHECK(regex.error().code == "bad-regex");
    CHECK(regex.error().column > 0);
}
