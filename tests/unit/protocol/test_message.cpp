#include "base/variables.hpp"
#include "protocol/frame.hpp"
#include "protocol/message.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace cudaenv;
using namespace cudaenv::protocol;

TEST_CASE("a request with its caller survives the way") {
    Request request;
    request.id = 7;
    request.method = "host";
    request.params = {{"gpu", {"8.6"}}};
    request.caller = Caller{"/p q", {{"HOME", "/home/u"}}, true, 132, true, 1000};
    const auto line = encode_request(request);
    REQUIRE(line);
    const auto read = decode_request(*line);
    REQUIRE(read);
    CHECK(read->id == 7);
    CHECK(read->method == "host");
    CHECK(read->params == request.params);
    REQUIRE(read->caller);
    CHECK(read->caller->cwd == "/p q");
    CHECK(read->caller->variable("HOME") == "/home/u");
    CHECK_FALSE(read->caller->variable("PATH"));
    CHECK(read->caller->columns == 132);
    CHECK(read->caller->uid == 1000);
}

TEST_CASE("a variable that cudaenv does not read is not taken from a caller") {
    const auto caller = caller_from_json(
        {{"cwd", "/"}, {"environment", {{"HOME", "/h"}, {"GITHUB_TOKEN", "secret"}}}});
    REQUIRE(caller);
    CHECK(caller->environment.size() == 1);
    CHECK(std::ranges::none_of(read_variables(), [](std::string_view name) {
        return name.find("TOKEN") != name.npos || name.find("PASSWORD") != name.npos;
    }));
}

TEST_CASE("an error comes back with its kind, place and hint") {
    for (const ErrorKind kind : {ErrorKind::BadInput, ErrorKind::Unavailable, ErrorKind::Defect}) {
        const Error error{kind, "bad-spec", "it is wrong", "/p/cudaenv.toml", 3, 9, "mend it"};
        const auto line = encode_response({5, tl::unexpected(error)});
        REQUIRE(line);
        const auto read = decode_response(*line);
        REQUIRE(read);
        CHECK(read->id == 5);
        REQUIRE_FALSE(read->result);
        CHECK(read->result.error().kind == kind);
        CHECK(error_to_json(read->result.error()) == error_to_json(error));
    }
}

TEST_CASE("requests that are none are refused with JSON-RPC's codes") {
    const auto code = [](std::string_view line) {
        const auto request = decode_request(line);
        REQUIRE_FALSE(request);
        return static_cast<int>(request.error().code);
    };
    CHECK(code("{") == -32700);
    CHECK(code("[]") == -32600);
    CHECK(code(R"({"id":1,"method":"x"})") == -32600);
    CHECK(code(R"({"jsonrpc":"2.0","method":"x"})") == -32600);
    CHECK(code(R"({"jsonrpc":"2.0","id":1.5,"method":"x"})") == -32600);
    CHECK(code(R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"x"})") == -32600);
    CHECK(code(R"({"jsonrpc":"2.0","id":1})") == -32600);
    CHECK(code(R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})") == -32602);
    CHECK(code(R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"caller":{"cwd":"p"}}})") ==
          -32602);
    CHECK(code(R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"caller":{"uid":-1}}})") ==
          -32602);
    CHECK(
        code(
            R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"caller":{"environment":{"HOME":1}}}})") ==
        -32602);
}

TEST_CASE("a reply must have a status and an object") {
    CHECK(reply_from_json({{"status", 1}, {"object", {{"schema", "x"}}}})->status == 1);
    CHECK_FALSE(reply_from_json({{"status", 256}, {"object", nlohmann::json::object()}}));
    CHECK_FALSE(reply_from_json({{"object", nlohmann::json::object()}}));
    CHECK_FALSE(reply_from_json({{"status", 0}, {"object", 3}}));
    CHECK_FALSE(reply_from_json(nullptr));
}

TEST_CASE("a hello without a protocol number is invalid") {
    Hello said;
    said.build = "0.1.0";
    said.capabilities = {"host"};
    const auto hello = hello_from_json(hello_to_json(said));
    REQUIRE(hello);
    CHECK(hello->capabilities == std::vector<std::string>{"host"});
    CHECK_FALSE(hello_from_json(nlohmann::json::object()));
    CHECK_FALSE(hello_from_json({{"protocol", "1"}}));
    CHECK_FALSE(hello_from_json({{"protocol", 18446744073709551615ULL}}));
}

TEST_CASE("a progress report is decoded as it was encoded, and nothing else is taken for one") {
    for (const auto gpu : {std::optional<int>(), std::optional(0), std::optional(7)}) {
        const std::string line = encode_progress({"cudnn", gpu});
        REQUIRE(line.ends_with('\n'));
        const auto progress = decode_progress(line.substr(0, line.size() - 1));
        REQUIRE(progress);
        CHECK(progress->step == "cudnn");
        CHECK(progress->gpu == gpu);
    }
    for (const char* line :
         {"", "{}", "3", R"({"jsonrpc":"2.0","id":1,"result":{}})",
          R"({"jsonrpc":"2.0","id":1,"method":"progress","params":{"step":"x"}})",
          R"({"jsonrpc":"2.0","method":"progress"})",
          R"({"jsonrpc":"2.0","method":"progress","params":[]})",
          R"({"jsonrpc":"2.0","method":"progress","params":{"step":3}})",
          R"({"jsonrpc":"2.0","method":"progress","params":{"step":"x","gpu":-2}})",
          R"({"jsonrpc":"2.0","method":"other","params":{"step":"x"}})",
          R"({"method":"progress","params":{"step":"x"}})"}) {
        INFO(line);
        CHECK_FALSE(decode_progress(line));
    }
}

TEST_CASE("a result of any length survives the way, in lines that are short enough") {
    std::string text;
    while (text.size() < 3 * k_most_frame_bytes) {
        text += "\"\\ \xC3\xA4\n\x01"; // what takes more in JSON, and a character of two bytes
    }
    const Response response{7, reply_to_json({1, {{"schema", "x/1"}, {"text", text}}})};
    const auto lines = encode_response(response);
    REQUIRE(lines);
    LineReader reader;
    REQUIRE(reader.feed(*lines));
    std::string parts;
    std::string last;
    int count = 0;
    while (const auto line = reader.next()) {
        CHECK(line->size() < k_most_frame_bytes);
        if (const auto part = decode_part(*line)) {
            parts += *part;
            ++count;
        }
        last = *line;
    }
    CHECK(count > 3);
    const auto read = decode_response(last, parts);
    REQUIRE(read);
    CHECK(read->id == 7);
    CHECK(*read->result == *response.result);
    CHECK_FALSE(decode_response(last, parts.substr(1)));
    CHECK_FALSE(decode_response(last));
}

TEST_CASE("a result beyond the limit is an error, and a short one is one line") {
    CHECK(
        encode_response({1, nlohmann::json(std::string(k_most_result_bytes, 'x'))}).error().kind ==
        ErrorKind::Defect);
    const auto line = encode_response({1, nlohmann::json("short")});
    REQUIRE(line);
    CHECK(line->find('\n') == line->size() - 1);
    CHECK_FALSE(decode_part(*line));
}
