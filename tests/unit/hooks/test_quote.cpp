#include "shell_run.hpp"
#include "shellhooks/hooks/quote.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

using namespace cudaenv::hooks;
using cudaenv::tests::nasty_words;
using cudaenv::tests::on_path;

namespace {

// One run of the shell for all words: each printed by /usr/bin/printf between marks.
void check_round_trip(const std::string& shell, const Shell& kind,
                      const std::vector<std::string>& words) {
    const std::string printf = on_path("printf");
    REQUIRE_FALSE(printf.empty());
    for (const std::string& word : words) {
        const std::string quoted = quote_word(kind, word);
        INFO("word <" << word << "> quoted <" << quoted << ">");
        // Between brackets, so that an empty word and a newline at the end show.
        const auto run = cudaenv::tests::run_program({shell, "-c", printf + " '[%s]' " + quoted},
                                                     {{"LC_ALL", "C.UTF-8"}});
        CHECK(run.status == 0);
        CHECK(run.out == '[' + word + ']');
    }
}

} // namespace

TEST_CASE("plain words stay as they are and others are quoted") {
    CHECK(quote_word(k_posix, "torch==1.12.1+cu113") == "torch==1.12.1+cu113");
    CHECK(quote_word(k_posix, "numpy>=1.2") == "'numpy>=1.2'");
    CHECK(quote_word(k_posix, "") == "''");
    CHECK(quote_word(k_posix, "it's") == R"('it'\''s')");
    CHECK(quote_word(k_fish, "it's\\") == R"('it\'s\\')");
    CHECK(quote_word(k_tcsh, "a!\n") == "'a\\!\\\n'");
    CHECK(quote_word(k_xonsh, "$HOME\n'") == R"(@('$HOME\x0a\''))");
}

TEST_CASE("sh reads a quoted word back as that word") {
    check_round_trip("/bin/sh", k_posix, nasty_words());
}

TEST_CASE("bash reads a quoted word back as that word") {
    const std::string bash = on_path("bash");
    if (bash.empty()) {
        SKIP("no bash here; apt install bash");
    }
    check_round_trip(bash, k_posix, nasty_words());
}

TEST_CASE("zsh reads a quoted word back as that word") {
    const std::string zsh = on_path("zsh");
    if (zsh.empty()) {
        SKIP("no zsh here; apt install zsh");
    }
    check_round_trip(zsh, k_posix, nasty_words());
}

TEST_CASE("fish reads a quoted word back as that word") {
    const std::string fish = on_path("fish");
    if (fish.empty()) {
        SKIP("no fish here; apt install fish");
    }
    check_round_trip(fish, k_fish, nasty_words());
}

TEST_CASE("tcsh reads a quoted word back as that word") {
    const std::string tcsh = on_path("tcsh");
    if (tcsh.empty()) {
        SKIP("no tcsh here; apt install tcsh");
    }
    check_round_trip(tcsh, k_tcsh, nasty_words());
}
