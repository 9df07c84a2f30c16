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
    CHECK(redact_urls("https://host/x#access_token=abc") == "https://host/x#***");
    CHECK(redact_urls("https://host/a;token=abc") == "https://host/a;***");
}

TEST_CASE("what other programs say is told without the secrets in it") {
    CHECK(redact_secrets("with ghp_0123456789abcdefABCD and hf_abcdefghijklmnop, as told") ==
          "with ghp_*** and hf_***, as told");
    CHECK(redact_secrets("libhf_something_else.so pypi-server hf_hub") ==
          "libhf_something_else.so pypi-server hf_hub");
    CHECK(redact_secrets("//user:pw@host/path of") == "//***@host/path of");
    CHECK(redact_secrets(R"(at https:\/\/u:pw@h\/x)") == "at https://***@h/x");
    CHECK(redact_secrets("Authorization: Bearer abc.def, retried") ==
          "Authorization: Bearer ***, retried");
    CHECK(redact_secrets("AWS_SECRET_ACCESS_KEY=abc HF_TOKEN=hf_x end") ==
          "AWS_SECRET_ACCESS_KEY=*** HF_TOKEN=*** end");
    CHECK(redact_secrets("/usr/lib//x and a@b, https://host/x?key=1") ==
          "/usr/lib//x and a@b, https://host/x?***");
    CHECK(redact_secrets("Could not load library libcudnn_ops.so.9") ==
          "Could not load library libcudnn_ops.so.9");
    CHECK(redact_secrets("password=") == "password=***");
}
