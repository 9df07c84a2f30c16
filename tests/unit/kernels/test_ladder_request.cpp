#include "base/json_bytes.hpp"
#include "kernels/ladder_request.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::kernels;
using cudaenv::bytes_of_json;
using cudaenv::bytes_to_json;
using Files = std::vector<std::string>;

TEST_CASE("a request says how deep, which GPUs and which libraries") {
    const auto request = read_ladder_request(R"({"depth": "full", "all_gpus": true, "parent": 4711,
        "libraries": {"cudart": ["/a/libcudart.so.13", "libcudart.so.12"], "nvrtc": ["/n"],
                      "cublas": ["/b"], "cudnn": ["/d"], "nccl": ["/c"]}})");
    REQUIRE(request);
    CHECK(request->full);
    CHECK(request->all_gpus);
    CHECK(request->parent == 4711);
    CHECK(request->libraries.of("cudart") == Files{"/a/libcudart.so.13", "libcudart.so.12"});
    CHECK(request->libraries.of("nvrtc") == Files{"/n"});
    CHECK(request->libraries.of("cublas") == Files{"/b"});
    CHECK(request->libraries.of("cudnn") == Files{"/d"});
    CHECK(request->libraries.of("nccl") == Files{"/c"});
}

TEST_CASE("what a request leaves out is not asked for") {
    for (const auto* text : {"{}", R"({"depth": "quick", "libraries": {}})",
                             R"({"libraries": {"cudart": []}})", R"({"from the future": 1})"}) {
        CAPTURE(text);
        const auto request = read_ladder_request(text);
        REQUIRE(request);
        CHECK_FALSE(request->full);
        CHECK_FALSE(request->all_gpus);
        CHECK_FALSE(request->parent);
        CHECK(request->libraries.of("cudart").empty());
    }
}

TEST_CASE("an invalid request is refused in one line") {
    for (const auto* text :
         {"", R"({"parent": "me"})", "{", "[]", "null", "\"full\"", R"({"depth": 1})",
          R"({"depth": "deep"})", R"({"all_gpus": "yes"})", R"({"libraries": []})",
          R"({"libraries": {"cudart": "/a"}})", R"({"libraries": {"nccl": [1]}})",
          R"({"libraries": {"cudnn": [""]}})"}) {
        CAPTURE(text);
        const auto request = read_ladder_request(text);
        REQUIRE_FALSE(request);
        CHECK(request.error().code == "bad-request");
        CHECK(request.error().message.starts_with("the request "));
        CHECK(request.error().message.find('\n') == std::string::npos);
    }
}

TEST_CASE("a file whose name is no UTF-8 is asked for by its bytes") {
    const auto request =
        read_ladder_request(R"({"libraries": {"cudart": [{"hex": "2f636166e9"}, "/a"]}})");
    REQUIRE(request);
    CHECK(request->libraries.of("cudart") == Files{"/caf\xe9", "/a"});
    for (const auto* file :
         {R"({"hex": "2f6"})", R"({"hex": "2F"})", R"({"hex": ""})", "{}", R"({"hex": 7})", "[]"}) {
        CAPTURE(file);
        CHECK_FALSE(
            read_ladder_request(R"({"libraries": {"cudart": [)" + std::string(file) + "]}}"));
    }
}

TEST_CASE("bytes are text where they are UTF-8, and come back as they were") {
    for (const std::string bytes : {"/a", "/caf\xc3\xa9", "/caf\xe9", "\xed\xa0\x80", "\xc0\xaf",
                                    "\xf0\x9f\x98\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
        CAPTURE(bytes);
        const auto written = bytes_to_json(bytes);
        // The reader of JSON has the last word on what UTF-8 is.
        CHECK(written.is_string() == nlohmann::json::accept('"' + bytes + '"'));
        CHECK(bytes_of_json(nlohmann::json::parse(written.dump())) == bytes);
    }
}
