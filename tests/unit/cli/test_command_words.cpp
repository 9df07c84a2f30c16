// Words of `cudaenv run`: where its options end and another program's command line begins.
#include "cli/command_line.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

using namespace cudaenv;
using namespace cudaenv::cli;

namespace {

using Words = std::vector<const char*>;

// "option=value option | command words", or the message of the error.
std::string read(const Words& words) {
    const auto parsed = parse_command_line(words);
    if (!parsed) {
        return parsed.error().message;
    }
    const auto* const invocation = std::get_if<Invocation>(&*parsed);
    if (invocation == nullptr) {
        return "help";
    }
    std::string text;
    for (const auto& [name, value] : invocation->params.items()) {
        text += name + '=' + value.dump() + ' ';
    }
    text += '|';
    for (const char* word : invocation->command_words) {
        text += ' ' + std::string(word);
    }
    return text;
}

} // namespace

TEST_CASE("the first word that is no option begins the command") {
    CHECK(read({"run", "nvcc", "--version"}) == "| nvcc --version");
    CHECK(read({"run", "--cuda", "11.3", "make", "-j4", "--cuda"}) ==
          "cuda=\"11.3\" | make -j4 --cuda");
    CHECK(read({"run", "--cuda=11.3", "-n", "apex", "python", "-n", "x"}) ==
          "cuda=\"11.3\" name=\"apex\" | python -n x");
    CHECK(read({"run", "-p/x", "--usr-local-cuda", "sh", "-c", "exit 1"}) ==
          "prefix=\"/x\" usr_local_cuda=true | sh -c exit 1");
}

TEST_CASE("after -- everything is the command") {
    CHECK(read({"run", "--", "-odd", "--help"}) == "| -odd --help");
    CHECK(read({"run", "--", "--", "x"}) == "| -- x");
    CHECK(read({"-n", "apex", "run", "--", "x"}) == "name=\"apex\" | x");
}

TEST_CASE("help is the command's own behind it, and ours before it") {
    CHECK(read({"run", "--help"}) == "help");
    CHECK(read({"run", "nvcc", "--help"}) == "| nvcc --help");
}

TEST_CASE("what is wrong with run's own words is said") {
    CHECK(read({"run"}) == "cudaenv run needs COMMAND");
    CHECK(read({"run", "--"}) == "cudaenv run needs COMMAND");
    CHECK(read({"run", "--usr-locl-cuda", "x"}) ==
          "\"--usr-locl-cuda\" is not an option of cudaenv run");
    CHECK(read({"run", "--cuda"}) == "--cuda needs a value");
}

TEST_CASE("another program's --json is not ours") {
    CHECK_FALSE(report_wishes(Words{"run", "conda", "list", "--json"}).json);
    CHECK(report_wishes(Words{"run", "--json", "conda", "list"}).json);
    CHECK(report_wishes(Words{"resolve", "x", "--json"}).json);
}

TEST_CASE("a failure of run has a status of its own") {
    CHECK(report_wishes(Words{"run", "--cuda"}).runs_command);
    CHECK(report_wishes(Words{"-n", "apex", "run", "x"}).runs_command);
    CHECK_FALSE(report_wishes(Words{"resolve", "run"}).runs_command);
}
