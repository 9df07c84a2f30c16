#include "base/raw_bytes.hpp"
#include "host/probe/build_trial.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::host;
using namespace cudaenv::probe;

namespace {

std::string words_of(std::string error, std::string output = {}) {
    ChildOutcome outcome;
    outcome.error = std::move(error);
    outcome.output = std::move(output);
    return last_words(outcome);
}

} // namespace

TEST_CASE("a compiler's last output is its own, without those that only say that it failed") {
    CHECK(words_of("a.cu(3): error\r\n\n  | ^\ncompilation terminated.\n") ==
          "a.cu(3): error\n  | ^");
    CHECK(words_of(" \n", "ld: cannot find -lcudart\nninja: build stopped: x\n") ==
          "ld: cannot find -lcudart");
    CHECK(words_of("expected ';' before '}' token\n   12 | }\n") ==
          "expected ';' before '}' token\n   12 | }");
}

TEST_CASE("the line of the cause stays above the last lines, however much follows it") {
    ChildOutcome outcome;
    outcome.started = true;
    outcome.exit_status = 255;
    outcome.error = "ptxas /tmp/tmpxft_0000171b_00000000-6_program.ptx, line 9; fatal   : "
                    "Unsupported .version 9.5; current version is '9.0'\n"
                    "ptxas fatal   : Ptx assembly aborted due to errors\n";
    for (int line = 0; line < 40; ++line) {
        outcome.error += "note " + std::to_string(line) + '\n';
    }
    facts::ProbeRung rung;
    fail(rung, "nvcc", outcome);
    CHECK(rung.cause == "ptxas fatal   : Unsupported .version 9.5; current version is '9.0'");
    CHECK(rung.message.find("Unsupported .version 9.5") < rung.message.find("...\nnote 28"));
    CHECK(rung.message.ends_with("note 39"));
    outcome.error += std::string(6000, 'x');
    fail(rung, "nvcc", outcome);
    CHECK(rung.message.size() <= 4096);
    CHECK(rung.message.find("Unsupported .version 9.5") != std::string::npos);
}

TEST_CASE("a compiler's words are shown without secrets, also of a line that is cut") {
    CHECK(words_of("fatal: https://me:hunter2@index.example/simple: no\n") ==
          "fatal: https://***@index.example/simple: no");
    CHECK(words_of("env: AWS_SECRET_ACCESS_KEY=abc\n").find("abc") == std::string::npos);
    const std::string cut =
        words_of("https://me:hunter2@index.example/" + std::string(4075, 'x') + '\n');
    CHECK(cut.size() <= 4096);
    CHECK(cut.find("hunter") == std::string::npos);
}

TEST_CASE("a compiler's words are cut between characters") {
    for (const char* character : {"a", "\xc3\xa9", "\xe2\x80\x98", "\xf0\x9f\x98\x80"}) {
        std::string text = "b";
        while (text.size() < 5000) {
            text += character;
        }
        const std::string words = words_of(text);
        CHECK(is_utf8(words));
        CHECK(words.size() > 4092);
        CHECK(words.size() <= 4096);
    }
}
