#include "host/probe/probe_report.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

using namespace cudaenv::probe;

namespace {

// The rungs that are reported where it is read in parts of `size` bytes.
std::vector<std::string> begun_in(std::string_view text, std::size_t size) {
    std::vector<std::string> rungs;
    LadderProgress progress([&](std::string_view step, std::optional<int> gpu) {
        rungs.push_back(std::string(step) + (gpu ? ' ' + std::to_string(*gpu) : ""));
    });
    for (std::size_t at = 0; at < text.size(); at += size) {
        progress.read(text.substr(at, size));
    }
    return rungs;
}

} // namespace

TEST_CASE("each rung is reported once it has begun, however the output is cut") {
    const std::string text = R"({"event": "begin", "step": "driver"})"
                             "\n"
                             R"({"event": "end", "step": "driver", "result": "ok", "ms": 1})"
                             "\n"
                             R"({"event": "begin", "step": "kernel", "gpu": 3})"
                             "\n"
                             R"({"event": "begin", "step": "ptx", "gpu": 3)"; // has not ended
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, text.size()}) {
        CHECK(begun_in(text, size) == std::vector<std::string>{"driver", "kernel 3"});
    }
}

TEST_CASE("what is no rung's begin is passed over, and what comes after it is not") {
    const std::string next = "\n"
                             R"({"event": "begin", "step": "gpu"})"
                             "\n";
    const std::vector<std::string> only_next{"gpu"};
    for (const std::string& line :
         {std::string("a library's words"), std::string("[]"), std::string("{"),
          std::string(R"({"event": "begin"})"), std::string(R"({"event": "begin", "step": 3})"),
          std::string(R"({"event": "begin", "step": "no such rung"})"), std::string(100'000, 'x'),
          R"({"event": "begin", "step": "driver", "words": ")" + std::string(100'000, 'x') +
              "\"}"}) {
        CHECK(begun_in(line + next, 4096) == only_next);
    }
    // A GPU that none can be is left out.
    CHECK(begun_in(R"({"event": "begin", "step": "ptx", "gpu": -1})"
                   "\n",
                   4096) == std::vector<std::string>{"ptx"});
}
