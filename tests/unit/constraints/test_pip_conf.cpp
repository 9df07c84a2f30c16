#include "cli/commands/pip_conf.hpp"

#include <catch2/catch_test_macros.hpp>

#include <random>

using namespace cudaenv::cli;

namespace {

const std::string k_comment = "# ours\n";
const std::vector<std::string> k_options{"constraint = /e/c.txt"};

std::string with(const std::string& text) {
    return with_constraint(text, k_comment, k_options).value();
}

} // namespace

TEST_CASE("every pip.conf is byte for byte as it was after with and without") {
    for (const std::string text :
         {"", "[global]", "[global]\n", "[install]\nno-deps = yes\n", "[global]\ntimeout = 5",
          "[global]\ntimeout = 5\n[install]\nno-deps = yes\n",
          "[global]\r\ntimeout = 5\r\n\r\n[install]\r\n",
          "# theirs\n\n[global]\n  timeout = 5\n  find-links =\n    a\n    b\n\n  [install]\n",
          "no section\n", "[global\n", "\xFF\xFE\n"}) {
        CAPTURE(text);
        CHECK(without_constraint(with(text), "/e/c.txt").value() == text);
    }
}

TEST_CASE("whatever the lines are, they come back, and pip reads the same others meanwhile") {
    const std::vector<std::string> pieces{
        "[global]\n", "  [global]\n",     "[install]\n", " [wheel]\n", "a = 1\n", "  b: 2\n",
        "\tpart\n",   "      part\n",     "# word\n",    "; word\n",   "\n",      "c\r\n",
        "[",          "constraints = x\n"};
    std::minstd_rand random(7);
    for (int round = 0; round < 5000; ++round) {
        std::string text;
        bool global = false;
        for (auto left = random() % 8; left > 0; --left) {
            const auto& piece = pieces[random() % pieces.size()];
            const bool again = piece.find("[global]") != std::string::npos;
            text += again && global ? "" : piece; // pip refuses the second one
            global = global || again;
        }
        CAPTURE(text);
        const auto changed = with(text);
        CHECK(without_constraint(changed, "/e/c.txt").value() == text);
        const auto options_in = [](const std::string& of) {
            std::string all;
            for (const auto& option : pip_options(of)) {
                all += option.section + '.' + option.name + '=' + option.value + '\n';
            }
            return all;
        };
        CHECK(options_in(changed) == options_in(text));
    }
}

TEST_CASE("the option goes into the section that is there, which pip takes once only") {
    CHECK(with("") == "# >>> cudaenv >>>\n# ours\n[global]\nconstraint = /e/c.txt\n"
                      "# <<< cudaenv <<<\n");
    CHECK(with("[global]\ntimeout = 5\n[install]\nno-deps = yes\n") ==
          "[global]\ntimeout = 5\n# >>> cudaenv >>>\n# ours\nconstraint = /e/c.txt\n"
          "# <<< cudaenv <<<\n[install]\nno-deps = yes\n");
}

TEST_CASE("it is as far indented as its neighbours, so that none becomes part of its value") {
    const auto text = with("[global]\n  timeout = 5\n  [install]\n  no-deps = yes\n");
    CHECK(text.find("\n  constraint = ") != std::string::npos);
    const auto options = pip_options(text);
    REQUIRE(options.size() == 2);
    CHECK(options[1].section == "install");
}

TEST_CASE("what was written behind the block keeps its section") {
    const auto changed = with("") + "timeout = 5\n";
    CHECK(without_constraint(changed, "/e/c.txt").value() == "[global]\ntimeout = 5\n");
    CHECK(without_constraint(with("") + "# a word\n[install]\n", "/e/c.txt").value() ==
          "# a word\n[install]\n");
}

TEST_CASE("options whose marks `pip config set` took out are found by the file that they name") {
    const std::string rewritten = "[global]\nconstraint = /e/c.txt\nuse-feature = "
                                  "build-constraint\ntimeout = 5\n\n";
    CHECK(without_constraint(rewritten, "/e/c.txt").value() == "[global]\ntimeout = 5\n\n");
    CHECK(without_constraint(rewritten, "/other").value() == rewritten);
}

TEST_CASE("options are listed by pip's names with their lines, without ours") {
    const auto options = pip_options(with("[global]\n# constraint = no\nConstraint: a\n"
                                          "[install]\n--find_links = x\n  constraint = part\n"));
    REQUIRE(options.size() == 2);
    CHECK(options[0].name == "constraint");
    CHECK(options[0].line == 3); // of the file, our block counted
    CHECK(pip_options(with("") + "constraint = a\n").front().line == 6);
    CHECK(options[1].name == "find-links");
}

TEST_CASE("a path that pip would split, or take for something else, is said as a URL") {
    CHECK(pip_path("/opt/env-1.0/c.txt") == "/opt/env-1.0/c.txt");
    CHECK(pip_path("/the env's/c.txt") == "file:///the%20env%27s/c.txt");
    CHECK(pip_path("/\xC3\xA9#%\n/c") == "file:///%C3%A9%23%25%0A/c");
    CHECK_FALSE(pip_path("/\xFF/c"));
}
