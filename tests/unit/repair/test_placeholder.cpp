#include "check/repair/conda_source.hpp"

#include <catch2/catch_test_macros.hpp>

using cudaenv::repair::with_prefix_in_binary;
using cudaenv::repair::with_prefix_in_text;

namespace {

const std::string k_placeholder = "/opt/placehold_placehold";

std::string nul(std::size_t number) {
    return std::string(number, '\0');
}

} // namespace

TEST_CASE("in text each placeholder becomes the prefix") {
    CHECK(with_prefix_in_text("a=" + k_placeholder + "/x\nb=" + k_placeholder, k_placeholder,
                              "/env") == "a=/env/x\nb=/env");
    CHECK(with_prefix_in_text("nothing of it", k_placeholder, "/env") == "nothing of it");
    CHECK(with_prefix_in_text("", k_placeholder, "/env").empty());
    CHECK(with_prefix_in_text("text", "", "/env") == "text");
}

TEST_CASE("a first line that the kernel would not read goes by env") {
    const std::string long_prefix = '/' + std::string(130, 'e');
    CHECK(with_prefix_in_text("#!" + k_placeholder + "/bin/python -E\nx\n", k_placeholder,
                              long_prefix) == "#!/usr/bin/env python -E\nx\n");
    CHECK(with_prefix_in_text("#! " + k_placeholder + "/bin/python\n", k_placeholder,
                              long_prefix) == "#!/usr/bin/env python\n");
    CHECK(with_prefix_in_text("#!" + k_placeholder + "/bin/python\n", k_placeholder, "/env") ==
          "#!/env/bin/python\n");
}

TEST_CASE("a long first line without the placeholder stays") {
    const std::string line = "#!/usr/bin/" + std::string(130, 'x') + "\n";
    CHECK(with_prefix_in_text(line + k_placeholder, k_placeholder, "/env") == line + "/env");
}

TEST_CASE("in a binary file nothing behind a string moves") {
    const std::string before = "ELF" + nul(1) + k_placeholder + "/lib" + nul(1) + "tail" + nul(1);
    const auto after = with_prefix_in_binary(before, k_placeholder, "/env");
    REQUIRE(after);
    CHECK(after->size() == before.size());
    CHECK(*after ==
          "ELF" + nul(1) + "/env/lib" + nul(k_placeholder.size() - 4) + nul(1) + "tail" + nul(1));
}

TEST_CASE("two placeholders of one string leave their room at its end") {
    const std::string before = k_placeholder + "/a:" + k_placeholder + "/b" + nul(1) + "x";
    const auto after = with_prefix_in_binary(before, k_placeholder, "/env");
    REQUIRE(after);
    CHECK(*after == "/env/a:/env/b" + nul(2 * (k_placeholder.size() - 4)) + nul(1) + "x");
}

TEST_CASE("a prefix that is longer than the placeholder has no room in a binary file") {
    CHECK_FALSE(
        with_prefix_in_binary(k_placeholder + nul(1), k_placeholder, k_placeholder + "/longer"));
    CHECK(with_prefix_in_binary(k_placeholder + nul(1), k_placeholder, k_placeholder) ==
          k_placeholder + nul(1));
}

TEST_CASE("a placeholder with a NUL is refused") {
    CHECK_FALSE(with_prefix_in_binary("x" + nul(2) + "y", nul(1) + "x", "/e"));
}
