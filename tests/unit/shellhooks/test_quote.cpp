#include "base/fd.hpp"
#include "shellhooks/quote.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace cudaenv::shellhooks;

namespace {

// Every byte a word may hold, the ones that shells read as something, and real words.
std::vector<std::string> nasty_words() {
    std::vector<std::string> words = {
        "",
        "numpy>=1.2",
        "torch==1.12.1+cu113",
        "a b",
        "it's",
        "''",
        "\\",
        "\\'",
        "a\\!b",
        "!!",
        "!$",
        "$HOME",
        "${x}",
        "$(id)",
        "`id`",
        "*",
        "?[a-z]",
        "{a,b}",
        "~",
        "~root",
        "=ls",
        "%self",
        "-n",
        "--",
        "#x",
        "a#",
        "\"q\"",
        "a\nb",
        "\n",
        "a\n",
        "\t x",
        ";&|<>()",
        "^x^y",
        "python[version='3.8.*']",
        "é\xff",
        "x=1",
        "@('a')",
        "a,b",
        "history !-1 \\!",
    };
    for (int c = 1; c < 256; ++c) {
        words.push_back(std::string("x") + static_cast<char>(c) + "y");
        words.emplace_back(1, static_cast<char>(c));
    }
    std::mt19937 random(20240607); // the same words every time
    constexpr std::string_view k_alphabet = "a'\"\\ !$`\n\t*?[]{}~=;&|<>()#%^@,-";
    for (int i = 0; i < 200; ++i) {
        std::string word;
        const std::size_t size = random() % 12;
        for (std::size_t k = 0; k < size; ++k) {
            word += k_alphabet[random() % k_alphabet.size()];
        }
        words.push_back(word);
    }
    return words;
}

std::string on_path(const std::string& program) {
    for (const char* directory : {"/bin/", "/usr/bin/", "/usr/local/bin/"}) {
        if (::access((directory + program).c_str(), X_OK) == 0) {
            return directory + program;
        }
    }
    return {};
}

// What the program prints for the arguments.
std::string output_of(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    cudaenv::Fd in(ends[0]);
    cudaenv::Fd out(ends[1]);
    std::vector<char*> raw;
    for (const std::string& argument : arguments) {
        raw.push_back(const_cast<char*>(argument.c_str()));
    }
    raw.push_back(nullptr);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(out.get(), 1);
        ::setenv("LC_ALL", "C.UTF-8", 1);
        ::execv(raw[0], raw.data());
        ::_exit(127);
    }
    out.reset();
    std::string text;
    std::array<char, 4096> chunk{};
    for (ssize_t size = 0; (size = ::read(in.get(), chunk.data(), chunk.size())) > 0;) {
        text.append(chunk.data(), static_cast<std::size_t>(size));
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    return text;
}

// One run of the shell for all words: each printed by /usr/bin/printf between marks.
void check_round_trip(const std::string& shell, Shell kind, const std::vector<std::string>& words) {
    const std::string printf = on_path("printf");
    REQUIRE_FALSE(printf.empty());
    for (const std::string& word : words) {
        const std::string quoted = quote_word(kind, word);
        INFO("word <" << word << "> quoted <" << quoted << ">");
        // Between brackets, so that an empty word and a newline at the end can be told.
        CHECK(output_of({shell, "-c", printf + " '[%s]' " + quoted}) == '[' + word + ']');
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
