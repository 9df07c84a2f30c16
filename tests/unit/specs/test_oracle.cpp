// conda's own answers, and the lines that ask for them.
#include "solver/specs/oracle.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace fs = std::filesystem;
using cudaenv::specs::oracle::answer;

namespace {

// The oracle's lines, through the decompressor's program; empty where it cannot be had.
std::string read_oracle(const fs::path& path) {
    const std::string command = "zstd -dc '" + path.string() + "' 2>/dev/null";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string text;
    if (pipe != nullptr) {
        char buffer[65536];
        for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
            text.append(buffer, got);
        }
        if (::pclose(pipe) != 0) {
            text.clear();
        }
    }
    return text;
}

} // namespace

TEST_CASE("every answer of conda itself is ours too") {
    const fs::path path = cudaenv::test::shared_path("facts/conda-oracle.jsonl.zst");
    const std::string text = read_oracle(path);
    if (text.empty()) {
        SKIP("cannot unpack " + path.string() + "; install the zstd program");
    }
    std::size_t asked = 0;
    std::size_t different = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        ++asked;
        const auto ours = answer(line);
        const std::string theirs = nlohmann::json::parse(line)["r"].dump();
        if (!ours || *ours != theirs) {
            ++different;
            UNSCOPED_INFO(line << " ours: " << (ours ? *ours : ours.error().message));
        }
    }
    CHECK(asked > 30'000);
    CHECK(different == 0);
}

TEST_CASE("an oracle line is answered in JSON") {
    CHECK(*answer(R"({"k": "cmp", "a": "1.0", "b": "1.0.1", "r": 1})") == "-1");
    CHECK(*answer(R"({"k": "cmp", "a": "1.0", "b": "1"})") == "0");
    CHECK(*answer(R"({"k": "cmp", "a": "1.0", "b": "1..0"})") == R"("error")");
    CHECK(*answer(R"({"k": "match", "spec": "numpy 1.*", "version": "1.2", "build": "x",
                      "build_number": 0, "subdir": "linux-64"})") == "true");
    CHECK(*answer(R"({"k": "match", "spec": "numpy 2.*", "version": "1.2"})") == "false");
    CHECK(*answer(R"({"k": "match", "spec": "numpy ~=1", "version": "1.2"})") == R"("error")");
    CHECK(*answer(R"({"k": "match", "spec": "numpy >="})") == R"("error")");
    CHECK(*answer(R"({"k": "parse", "spec": ""})") == R"("ok")");
    CHECK(*answer(R"({"k": "parse", "spec": "="})") == R"("error")");
}

TEST_CASE("a malformed oracle line is an error that names its fault") {
    struct Bad {
        std::string line;
        std::string says;
    };
    const auto bad = GENERATE(values<Bad>({
        {"", "not JSON"},
        {"{\"k\": \"cmp\"", "not JSON"},
        {"[1]", "not a JSON object"},
        {R"({"a": "1"})", "\"k\" is missing"},
        {R"({"k": 1})", "\"k\" is not a string"},
        {R"({"k": "guess"})", "\"k\" is \"guess\""},
        {R"({"k": "cmp", "a": "1"})", "\"b\" is missing"},
        {R"({"k": "cmp", "a": "1", "b": 2})", "\"b\" is not a string"},
        {R"({"k": "match", "spec": "numpy", "version": "1", "build_number": -1})", "build_number"},
    }));
    INFO(bad.line);
    const auto failed = answer(bad.line);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == "bad-oracle-line");
    CHECK(failed.error().message.find(bad.says) != std::string::npos);
}
