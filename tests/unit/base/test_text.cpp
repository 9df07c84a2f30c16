#include "base/percent.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

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
    CHECK(did_you_mean("cudaa", words) == "did you mean \"cuda\"?");
    CHECK(did_you_mean("tensorflow", words, "known are cuda, cudnn") == "known are cuda, cudnn");
    const std::array<std::string, 1> near{std::string(65, 'a')};
    CHECK_FALSE(nearest(std::string(65, 'b'), near));
}

TEST_CASE("percent escapes are decoded, encoded, and found where they are none") {
    CHECK(percent_decode("/a%20b%2Fc%2f") == "/a b/c/");
    CHECK(percent_decode("100%, %2, %zz, %") == "100%, %2, %zz, %");
    CHECK(percent_fault("/a%20b") == std::string::npos);
    CHECK(percent_fault("/a%20%2") == 5);
    CHECK(percent_fault("/a%00") == 2);
    CHECK(percent_encode("/a b\xff.c", "/.") == "/a%20b%FF.c");
    std::string all;
    for (int byte = 0; byte < 256; ++byte) {
        all += static_cast<char>(byte);
    }
    CHECK(percent_decode(percent_encode(all, "")) == all);
    CHECK(percent_restore("a%20b", "") == "a b");
    for (const char* other : {"a b", "a%2", "%61", "%2f", "%00"}) {
        CHECK_FALSE(percent_restore(other, ""));
    }
}

TEST_CASE("UTF-8 ends where a character is cut, overlong, a surrogate or beyond the last") {
    const std::string whole = "a\u00e9\u20ac\U0001f600";
    CHECK(is_utf8(whole));
    CHECK(is_utf8(""));
    CHECK(utf8_length("\u20ac") == 3);
    for (const char* bad : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80",
                            "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xff", "\xe2\x82"}) {
        CHECK(utf8_length(bad) == 0);
        CHECK(utf8_end(whole + bad) == whole.size());
    }
}

TEST_CASE("passwords and tokens never survive in a URL") {
    CHECK(redact_secrets("https://me:secret@host/x") == "https://***@host/x");
    CHECK(redact_secrets("see https://host/t/tk-123/conda-forge now") ==
          "see https://host/t/***/conda-forge now");
    CHECK(redact_secrets("https://host/c?token=abc and more") == "https://host/c?*** and more");
    CHECK(redact_secrets("https://me:pw@host/t/tk/c?key=1") == "https://***@host/t/***/c?***");
    CHECK(redact_secrets("HTTPS://HOST/T/TK-123/X") == "HTTPS://HOST/T/***/X");
    CHECK(redact_secrets("https://me:p/secret@host/x") == "https://***@host/x");
    CHECK(redact_secrets("git+https://host:8443/x/y@main") == "git+https://host:8443/x/y@main");
    CHECK(redact_secrets("no url") == "no url");
    CHECK(redact_secrets("///me:pw@host/t///me:pw@host") == "///***@host/t///***@host");
    CHECK(redact_secrets("https://host/x#access_token=abc") == "https://host/x#***");
    CHECK(redact_secrets("https://host/a;token=abc") == "https://host/a;***");
}

TEST_CASE("of no shape of secret is anything left, and redacting twice changes nothing") {
    // The secret is S3CRETs3cret0123456789 in each.
    const auto* const text = GENERATE(
        "https://u:S3CRETs3cret0123456789@h/x", "https://S3CRETs3cret0123456789@h/x",
        "http://u:S3CRETs3cret0123456789@h:8080", "git+https://u:S3CRETs3cret0123456789@h/r.git",
        "ssh://u:S3CRETs3cret0123456789@h/r", "ftp://u:S3CRETs3cret0123456789@h/f",
        "s3://AK:S3CRETs3cret0123456789@bucket/x", "oci://u:S3CRETs3cret0123456789@h/c",
        "//u:S3CRETs3cret0123456789@h/x", R"(https:\/\/u:S3CRETs3cret0123456789@h\/x)",
        "https://h/t/S3CRETs3cret0123456789/conda-forge", "https://h/t/S3CRETs3cret0123456789",
        "x @ https://u:S3CRETs3cret0123456789@h/x.whl", "'https://u:S3CRETs3cret0123456789@h/x'",
        "\"https://u:S3CRETs3cret0123456789@h/x\"", "https://h/x?token=S3CRETs3cret0123456789",
        "https://h/x?sig=S3CRETs3cret0123456789&e=1",
        "https://h/x?X-Amz-Signature=S3CRETs3cret0123456789",
        "https://h/x#access_token=S3CRETs3cret0123456789",
        "https://h/x;token=S3CRETs3cret0123456789",
        "https://a/b https://u:S3CRETs3cret0123456789@h/x", "HTTPS://u:S3CRETs3cret0123456789@h/x",
        "https://u%40d:S3CRETs3cret0123456789@h/x",
        "https://u:S3CRET@s3cret@S3CRETs3cret0123456789@h/x",
        "Authorization: Bearer S3CRETs3cret0123456789",
        "authorization: basic S3CRETs3cret0123456789",
        "Authorization: token S3CRETs3cret0123456789", "X-Api-Key: S3CRETs3cret0123456789",
        "X-Auth-Token: S3CRETs3cret0123456789", "PRIVATE-TOKEN: S3CRETs3cret0123456789",
        "token=S3CRETs3cret0123456789", "HF_TOKEN=S3CRETs3cret0123456789",
        "AWS_SECRET_ACCESS_KEY=S3CRETs3cret0123456789", "AWS_ACCESS_KEY_ID=S3CRETs3cret0123456789",
        "AWS_SESSION_TOKEN=S3CRETs3cret0123456789", "PGPASSWORD=S3CRETs3cret0123456789",
        "password: S3CRETs3cret0123456789", "passwd=S3CRETs3cret0123456789",
        "passphrase=S3CRETs3cret0123456789", "client_secret=S3CRETs3cret0123456789",
        "api_key: S3CRETs3cret0123456789", "apikey=S3CRETs3cret0123456789",
        "WANDB_API_KEY=S3CRETs3cret0123456789", "GITHUB_PAT=S3CRETs3cret0123456789",
        "//h/:_authToken=S3CRETs3cret0123456789", "_auth=S3CRETs3cret0123456789",
        "ghp_S3CRETs3cret0123456789", "gho_S3CRETs3cret0123456789", "ghs_S3CRETs3cret0123456789",
        "ghr_S3CRETs3cret0123456789", "github_pat_S3CRETs3cret0123456789",
        "/builds/glpat-S3CRETs3cret0123456789/x", "gldt-S3CRETs3cret0123456789",
        "hf_S3CRETs3cret0123456789", "pypi-S3CRETs3cret0123456789", "xoxb-S3CRETs3cret0123456789",
        "xoxs-S3CRETs3cret0123456789", "AKIAS3CRETs3cret0123456789", "ASIAS3CRETs3cret0123456789",
        "AIzaS3CRETs3cret0123456789", "ya29.S3CRETs3cret0123456789", "nvapi-S3CRETs3cret0123456789",
        "npm_S3CRETs3cret0123456789", "dckr_pat_S3CRETs3cret0123456789",
        "dop_v1_S3CRETs3cret0123456789", "dapiS3CRETs3cret0123456789",
        "sk-ant-S3CRETs3cret0123456789", "sk-proj-S3CRETs3cret0123456789",
        "sk_live_S3CRETs3cret0123456789", "h/t/tk-S3CRETs3cret0123456789/c",
        "pfx_S3CRETs3cret0123456789", "eyJhbGciOiJIUzI1NiJ9.eyJS3CRETs3cret0123456789");
    const std::string redacted = redact_secrets(text);
    CHECK(redacted.find("S3CRET") == std::string::npos);
    CHECK(redacted.find("***") != std::string::npos);
    CHECK(redact_secrets(redacted) == redacted);
}

TEST_CASE("what is no secret is left as it is") {
    const auto* const text =
        GENERATE("/home/t/envs/a", "cudatoolkit=11.3", "torch==2.6.0+cu118", "a token of trust",
                 "unexpected token: ]", "a basic install", "https://host/pypi/simple",
                 "git@github.com:a/b", "pypi-server", "tk-inter", "hf_hub");
    CHECK(redact_secrets(text) == text);
}

TEST_CASE("the output of other programs is shown without the secrets in it") {
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

TEST_CASE("what files and programs write is cut at its edges") {
    CHECK(without_end_slashes("/a/b//") == "/a/b");
    CHECK(without_end_slashes("///") == "/");
    CHECK(without_end_slashes("").empty());
    CHECK(leading_numbers("14.0.6-rc1") == "14.0.6");
    CHECK(leading_numbers("3.11.7.final.0") == "3.11.7");
    CHECK(leading_numbers("x1").empty());
    using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;
    CHECK(assignments_in("a = b \nnothing\n c=d=e\n") == Pairs{{"a", "b"}, {"c", "d=e"}});
}

TEST_CASE("a list takes a text once") {
    std::vector<std::string> list{"a"};
    add_once(list, "b");
    add_once(list, "a");
    CHECK(list == std::vector<std::string>{"a", "b"});
    CHECK(contains(list, "b"));
    CHECK_FALSE(contains(list, "c"));
}
