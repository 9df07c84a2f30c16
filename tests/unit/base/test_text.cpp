#include "base/text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>

using namespace cudaenv;

TEST_CASE("split keeps empty pieces") {
    CHECK(split("a::b", ':').size() == 3);
    CHECK(split("", ':').size() == 1);
}

TEST_CASE("the nearest word is offered only when it is near") {
    const std::array<std::string, 3> words{"cuda", "cudnn", "torch"};
    CHECK(nearest("cudaa", words) == "cuda");
    CHECK_FALSE(nearest("tensorflow", words));
}

TEST_CASE("passwords and tokens never survive in a URL") {
    CHECK(redact_urls("https://me:secret@host/x") == "https://***@host/x");
    CHECK(redact_urls("see https://host/t/tk-123/conda-forge now") ==
          "see https://host/t/***/conda-forge now");
    CHECK(redact_urls("https://host/c?token=abc and more") == "https://host/c?*** and more");
    CHECK(redact_urls("https://me:pw@host/t/tk/c?key=1") == "https://***@host/t/***/c?***");
    CHECK(redact_urls("no url") == "no url");
}
