#include "base/variables.hpp"
#include "protocol/json_field.hpp"
#include "protocol/message.hpp"
#include "shellhooks/patch/patch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace cudaenv;
using namespace cudaenv::protocol;

TEST_CASE("conda's snapshots travel as far as the variable itself does") {
    CHECK(is_caller_variable("CUDA_HOME"));
    CHECK(is_caller_variable("__CONDA_SHLVL_0_CUDA_HOME"));
    CHECK(is_caller_variable("__CONDA_SHLVL_12_LD_LIBRARY_PATH"));
    CHECK(is_caller_variable("__LMOD_REF_COUNT_LD_LIBRARY_PATH"));
    CHECK(is_caller_variable("__MODULES_SHARE_PATH"));
    CHECK_FALSE(is_caller_variable("__LMOD_REF_COUNT_MANPATH"));
    for (const char* none :
         {"", "GITHUB_TOKEN", "__CONDA_SHLVL_", "__CONDA_SHLVL_1", "__CONDA_SHLVL_1_",
          "__CONDA_SHLVL__PATH", "__CONDA_SHLVL_1_GITHUB_TOKEN", "__CONDA_SHLVL_1PATH",
          "__CONDA_SHLVL_x_PATH", "__CONDA_SHLVL_1_ PATH"}) {
        CHECK_FALSE(is_caller_variable(none));
    }
    const auto caller = caller_from_json(
        {{"cwd", "/"},
         {"environment",
          {{"__CONDA_SHLVL_1_CUDA_HOME", "/c"}, {"__CONDA_SHLVL_1_GITHUB_TOKEN", "secret"}}}});
    REQUIRE(caller);
    CHECK(caller->environment.size() == 1);
    CHECK(caller->variable("__CONDA_SHLVL_1_CUDA_HOME") == "/c");
}

TEST_CASE("what a container's manager says of itself travels") {
    for (const char* name : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "container"}) {
        CHECK(is_caller_variable(name));
    }
}

TEST_CASE("what CUDA's libraries and the loader read travels, and is not on the list") {
    for (const char* name :
         {"CUDA_MODULE_LOADING", "CUDA_LAUNCH_BLOCKING", "CUDNN_ERRATA_JSON_FILE",
          "CUBLAS_WORKSPACE_CONFIG", "CUBLASLT_DISABLE", "NCCL_IB_PKEY", "NCCL_CUMEM_ENABLE",
          "NVIDIA_TF32_OVERRIDE", "LD_PRELOAD", "GLIBC_TUNABLES", "LD_AUDIT", "LD_BIND_NOW"}) {
        INFO(name);
        CHECK(travels(name, "1"));
        CHECK(is_read_by_cuda(name));
        CHECK_FALSE(is_caller_variable(name)); // who asks for facts goes without it
    }
    for (const char* words :
         {"NCCL_DEBUG", "NCCL_DEBUG_FILE", "CUDA_CACHE_PATH", "CUDA_CACHE_DISABLE",
          "CUDNN_LOGDEST_DBG", "CUBLAS_LOGINFO_DBG", "CUBLASLT_LOG_LEVEL", "CUDA_VERSION",
          "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "LD_DEBUG", "NVIDIA_REQUIRE_CUDA", "CUDA", "NCCL",
          "MY_CUDA_X", "cuda_x"}) {
        INFO(words);
        CHECK_FALSE(travels(words, "1"));
    }
    CHECK(travels("CUDNN_HOME", "/opt/cudnn")); // the list's own, which no library reads
    CHECK_FALSE(is_read_by_cuda("CUDNN_HOME"));
    const std::string long_text(k_longest_of_cuda + 1, 'x');
    CHECK(travels("NCCL_TOPO_FILE", long_text.substr(1)));
    CHECK_FALSE(travels("NCCL_TOPO_FILE", long_text));
    CHECK(travels("PATH", long_text));
}

TEST_CASE("what may be a secret by its name does not travel, whatever it begins with") {
    for (const char* name : {"CUDA_API_TOKEN", "NCCL_SECRET", "NCCL_KEY", "CUDNN_PASSWORD",
                             "CUDA_REGISTRY_PASSWD_FILE", "CUBLAS_AUTH", "CUDA_APIKEY", "NCCL_KEY_",
                             "CUDA_SECRETS", "CUDA_CREDENTIALS_X"}) {
        INFO(name);
        CHECK_FALSE(travels(name, "hunter2"));
    }
    const auto caller = caller_from_json(
        {{"cwd", "/"}, {"environment", {{"CUDA_TOKEN", "hunter2"}, {"NCCL_PROTO", "LL"}}}});
    REQUIRE(caller);
    CHECK(caller->environment.size() == 1);
    CHECK(caller->variable("NCCL_PROTO") == "LL");
}

TEST_CASE("all that activation changes travels") {
    const auto names = managed_variables();
    CHECK(std::ranges::all_of(names, is_caller_variable));
    CHECK(std::ranges::all_of(watched_variables(), is_caller_variable));
    CHECK(is_caller_variable(patch::k_journal_variable));
}

TEST_CASE("a directory and values that are not UTF-8 survive the way byte for byte") {
    for (const std::string bytes : {"/p/\xff", "/\xc3\xa9", "/\xc3", "/\xc0\xaf", "/\xe0\x80\xaf",
                                    "/\xed\xa0\x80", "/\xf4\x90\x80\x80", "/\xf0\x9f\x98\x80",
                                    "/\x80\n\"", "/\xe2\x82", "/\xf5\x80\x80\x80"}) {
        Request request;
        request.method = "activate";
        request.caller = Caller{bytes, {{"PATH", bytes}, {"HOME", ""}}, false, 80, false, 0};
        const auto line = encode_request(request);
        REQUIRE(line);
        const auto read = decode_request(*line);
        REQUIRE(read);
        CHECK(read->caller->cwd == bytes);
        CHECK(read->caller->environment == request.caller->environment);
    }
    CHECK(bytes_to_json("/\xc3\xa9") == "/\xc3\xa9");
    CHECK(bytes_to_json("/\xff") == nlohmann::json{{"hex", "2fff"}});
}

TEST_CASE("bytes that are neither text nor pairs of digits are refused") {
    for (const char* wrong : {R"({"hex":"2"})", R"({"hex":"2g"})", R"({"hex":"g2"})",
                              R"({"hex":"2F"})", R"({"hex":3})", "{}", "null", "3", "[]"}) {
        const auto read = bytes_from_json(nlohmann::json::parse(wrong), "PATH");
        REQUIRE_FALSE(read);
        CHECK(read.error().code == "bad-field");
        CHECK(read.error().message.find("PATH") != std::string::npos);
    }
    CHECK(bytes_from_json({{"hex", ""}}, "PATH")->empty());
}
