#include "shell_run.hpp"
#include "shellhooks/quote.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

using namespace cudaenv::shellhooks;
using cudaenv::tests::nasty_words;
using cudaenv::tests::on_path;

namespace {

// One run of the shell for all words: each printed by /usr/bin/printf between marks.
void check_round_trip(const std::string& shell, Shell kind, const std::vector<std::string>& words) {
    const std::string printf = on_path("printf");
    REQUIRE_FALSE(printf.empty());
    for (const std::string& word : words) {
        const std::string quoted = quote_word(kind, word);
        INFO("word <" << word << "> quoted <" << quoted << ">");
        // Between brackets, so that an empty word and a newline at the end can be told.
        const auto run = cudaenv::tests::run_program({shell, "-c", printf + " '[%s]' " + quoted},
                                                     {{"LC_ALL", "C.UTF-8"}});
        CHECK(run.status == 0);
        CHECK(run.out == '[' + word + ']');
    }
}

} // namespace

TEST_CASE("plain words stay as they are and others are quoted") {
    CHECK(quote_word(Shell::Posix, "torch==1.12.1+cu113") == "torch==1.12.1+cu113");
    CHECK(quote_word(Shell::Posix, "numpy>=1.2") == "'numpy>=1.2'");
    CHECK(quote_word(Shell::Posix, "") == "''");
    CHECK(quote_word(Shell::Posix, "it's") == R"('it'\''s')");
    CHECK(quote_word(Shell::Fish, "it's\\") == R"('it\'s\\')");
    CHECK(quote_word(Shell::Tcsh, "a!\n") == "'a\\!\\\n'");
    CHECK(quote_word(Shell::Xonsh, "$HOME\n'") == R"(@('$HOME\x0a\''))");
}

TEST_CASE("sh reads a quoted word back as that word") {
    check_round_trip("/bin/sh", Shell::Posix, nasty_words());
}

TEST_CASE("bash reads a quoted word back as that word") {
    const std::string bash = on_path("bash");
    if (bash.empty()) {
        SKIP("no bash here; apt install bash");
    }
    check_round_trip(bash, Shell::Posix, nasty_words());
}

TEST_CASE("zsh reads a quoted word back as that word") {
    const std::string zsh = on_path("zsh");
    if (zsh.empty()) {
        SKIP("no zsh here; apt install zsh");
    }
    check_round_trip(zsh, Shell::Posix, nasty_words());
}

TEST_CASE("fish reads a quoted word back as that word") {
    const std::string fish = on_path("fish");
    if (fish.empty()) {
        SKIP("no fish here; apt install fish");
    }
    check_round_trip(fish, Shell::Fish, nasty_words());
}

TEST_CASE("tcsh reads a quoted word back as that word") {
    const std::string tcsh = on_path("tcsh");
    if (tcsh.empty()) {
        SKIP("no tcsh here; apt install tcsh");
    }
    check_round_trip(tcsh, Shell::Tcsh, nasty_words());
}
