#include "base/shell_word.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;

TEST_CASE("a word is quoted only where a shell would read it otherwise") {
    CHECK(shell_word("pytorch==1.12.1") == "pytorch==1.12.1");
    CHECK(shell_word("torch>=2") == "'torch>=2'");
    CHECK(shell_word("it's $(here)") == "'it'\\''s $(here)'");
    CHECK(shell_word("") == "''");
}

TEST_CASE("a word with control characters is pasted as it is and shown without them") {
    CHECK(shell_word("a\nb") == "$'a\\012b'");
    CHECK(shell_word("\x1b[31mit's\\") == "$'\\033[31mit\\'s\\\\'");
}
