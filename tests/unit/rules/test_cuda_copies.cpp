#include "check/rules/rules.hpp"
#include "tests/unit/rules/cuda_environments.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using Codes = std::vector<std::string>;

// The files of the real wheels' lists that matter: the library, and headers that differ or not.
facts::Distribution& runtime_wheel(ContextBuilder& env, const std::string& cuda,
                                   const std::string& version) {
    const bool is_new = cuda == "13";
    auto& distribution =
        wheel(env, is_new ? "nvidia-cuda-runtime" : "nvidia-cuda-runtime-cu" + cuda, version);
    const auto root = env.site() + (is_new ? "/nvidia/cu13" : "/nvidia/cuda_runtime");
    env.file(distribution, root + "/lib/libcudart.so." + (cuda == "11" ? "11.0" : cuda),
             "runtime " + version);
    env.file(distribution, root + "/include/cuda_runtime_api.h", "header " + version);
    env.file(distribution, root + "/include/cuda_vdpau_interop.h", "the same in all");
    return distribution;
}

const std::vector<std::string> k_cudnn_parts = {"libcudnn",
                                                "libcudnn_adv",
                                                "libcudnn_cnn",
                                                "libcudnn_engines_precompiled",
                                                "libcudnn_engines_runtime_compiled",
                                                "libcudnn_graph",
                                                "libcudnn_heuristic",
                                                "libcudnn_ops"};

facts::Distribution& cudnn_wheel(ContextBuilder& env, const std::string& cuda,
                                 const std::string& version) {
    auto& distribution = wheel(env, "nvidia-cudnn-cu" + cuda, version);
    for (const auto& part : k_cudnn_parts) {
        env.file(distribution, env.site() + "/nvidia/cudnn/lib/" + part + ".so.9",
                 part + ' ' + version);
    }
    return distribution;
}

facts::CondaPackage& conda_cudnn(ContextBuilder& env, const std::string& version) {
    auto& package = env.conda("libcudnn", version);
    for (const auto& part : k_cudnn_parts) {
        env.file(package, "lib/" + part + ".so.9", part + ' ' + version);
        env.file(package, "lib/" + part + ".so.9.9", part + ' ' + version);
    }
    return package;
}

facts::CondaPackage& conda_cudart(ContextBuilder& env, const std::string& version,
                                  const std::string& soname) {
    auto& package = env.conda("cuda-cudart", version);
    env.file(package, "lib/libcudart.so." + soname, "conda's runtime " + version);
    auto& split = env.conda("cuda-cudart_linux-64", version);
    env.file(split, "targets/x86_64-linux/lib/libcudart.so." + soname,
             "conda's runtime " + version);
    return package;
}

TEST_CASE("one copy of each library is no finding") {
    ContextBuilder env;
    SECTION("torch's own set of wheels") {
        torch_of_pypi(env);
        runtime_wheel(env, "12", "12.8.90");
        cudnn_wheel(env, "12", "9.10.2.21");
        auto& nccl = wheel(env, "nvidia-nccl-cu12", "2.27.3");
        env.file(nccl, env.site() + "/nvidia/nccl/lib/libnccl.so.2", "nccl");
        torchvision_of_pypi(env);
    }
    SECTION("conda's split packages") {
        conda_cudart(env, "12.6.77", "12");
        conda_cudnn(env, "9.10.2.21");
        env.file(env.conda("libcudnn-jit", "9.10.2.21"), "lib/libcudnn_engines_runtime.so.9",
                 "jit");
        env.conda("libcudnn-dev", "9.10.2.21");
        env.conda("cudnn", "9.10.2.21");
        env.conda("cuda-cudart-dev", "12.6.77");
        env.conda("cuda-runtime", "12.6.77");
    }
    SECTION("an old torch with everything inside") {
        auto& torch = wheel(env, "torch", "1.12.1+cu113");
        env.file(torch, env.site() + "/torch/lib/libcudart-a7b20f20.so.11.0", "runtime");
        env.file(torch, env.site() + "/torch/lib/libcudnn.so.8", "cudnn");
        env.file(torch, env.site() + "/torch/lib/libcudnn_ops_infer.so.8", "cudnn");
    }
    SECTION("cupy, which carries nothing, beside the runtime that it uses") {
        wheel(env, "cupy-cuda12x", "13.4.0");
        runtime_wheel(env, "12", "12.8.90");
    }
    SECTION("a wheel with a runtime under a name of its own") {
        runtime_wheel(env, "12", "12.8.90");
        auto& faiss = wheel(env, "faiss-gpu", "1.7.2");
        env.file(faiss, env.site() + "/faiss_gpu.libs/libcudart-b9b4c4dd.so.11.0", "runtime");
    }
    SECTION("another wheel that keeps its own to itself") {
        cudnn_wheel(env, "12", "9.10.2.21");
        auto& paddle = wheel(env, "paddlepaddle-gpu", "2.6.0");
        env.file(paddle, env.site() + "/paddle/libs/libcudnn.so.8", "cudnn");
    }
    CHECK(env.codes().empty());
}

TEST_CASE("runtimes of CUDA 11 and 12 in one directory overwrite each other") {
    ContextBuilder env;
    auto& torch = torch_of_pypi(env);
    torch.installer = "pip";
    runtime_wheel(env, "11", "11.8.89");
    runtime_wheel(env, "12", "12.8.90");
    const auto found = env.found("CE130");
    REQUIRE(found.size() == 1);
    const auto& finding = found[0].finding;
    CHECK(finding.severity == facts::Severity::Warning);
    CHECK(is_case(finding, "overwritten",
                  {{"n", "2"},
                   {"names", "nvidia-cuda-runtime-cu11 11.8.89, nvidia-cuda-runtime-cu12 12.8.90"},
                   {"left", "nvidia-cuda-runtime-cu11"},
                   {"right", "nvidia-cuda-runtime-cu12"},
                   {"paths", "1"}}));
    const auto header = env.site() + "/nvidia/cuda_runtime/include/cuda_runtime_api.h";
    REQUIRE(finding.evidence.size() == 3);
    CHECK(finding.evidence[0].path ==
          "/env/lib/python3.11/site-packages/nvidia_cuda_runtime_cu11-11.8.89.dist-info");
    CHECK(finding.evidence[1].text ==
          "nvidia-cuda-runtime-cu12 12.8.90, installed by pip, 2026-11-21 10:02 UTC");
    CHECK(finding.evidence[2].path == "/env/" + header);
    CHECK(finding.evidence[2].text == "content of pip's nvidia-cuda-runtime-cu12 12.8.90");
    CHECK(found[0].files == std::vector{header});
    // torch requires the one for CUDA 12, nothing the other.
    CHECK(finding.fix->command == "cudaenv check --fix CE130");
    REQUIRE(found[0].repairs.size() == 1);
    CHECK(kinds(found[0]) == kinds_of<UninstallPip>());
    CHECK(repair_at<UninstallPip>(found[0], 0).distribution == "nvidia-cuda-runtime-cu11");
    // One fact is one finding, also at a prompt.
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        CHECK(env.codes(depth) == Codes{"CE130"});
        CHECK(env.found({}, depth)[0].said_at_prompt);
        CHECK(is_case(env.found({}, depth)[0], "overwritten"));
    }
    SECTION("three of them too, and what pip may do for each is done") {
        auto& other = wheel(env, "nvidia-cuda-runtime", "13.0.48");
        env.file(other, env.site() + "/nvidia/cuda_runtime/lib/libcudart.so.13", "of 13");
        env.file(other, header, "header 13");
        REQUIRE(env.codes() == Codes{"CE130"});
        const auto copies = env.found()[0];
        CHECK(is_case(copies, "overwritten", {{"n", "3"}}));
        CHECK(copies.files == std::vector{header});
        CHECK(kinds(copies) == kinds_of<UninstallPip, UninstallPip, ReinstallPip>());
        CHECK(repair_at<UninstallPip>(copies, 0).distribution == "nvidia-cuda-runtime-cu11");
        CHECK(repair_at<UninstallPip>(copies, 1).distribution == "nvidia-cuda-runtime");
        CHECK(repair_at<ReinstallPip>(copies, 2).distribution == "nvidia-cuda-runtime-cu12");
    }
}

TEST_CASE("runtimes of several majors that share no path are a note") {
    ContextBuilder env;
    SECTION("both of pip") {
        runtime_wheel(env, "12", "12.8.90");
        runtime_wheel(env, "13", "13.0.88");
    }
    SECTION("of both managers") {
        runtime_wheel(env, "12", "12.8.90");
        auto& toolkit = env.conda("cudatoolkit", "11.3.1");
        env.file(toolkit, "lib/libcudart.so.11.0", "conda's");
    }
    SECTION("conda's record without its files") {
        runtime_wheel(env, "12", "12.8.90");
        env.conda("cudatoolkit", "11.3.1");
    }
    const auto found = env.found();
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.code == "CE130");
    CHECK(found[0].finding.severity == facts::Severity::Note);
}

TEST_CASE("a runtime of conda's beside pip's of the same major is a note, and nothing where it "
          "came with nvcc") {
    ContextBuilder env;
    runtime_wheel(env, "12", "12.8.90");
    conda_cudart(env, "12.6.77", "12");
    CHECK(env.codes() == Codes{"CE130"});
    CHECK(env.found("CE130")[0].finding.severity == facts::Severity::Note);
    env.conda("cuda-nvcc", "12.6.77");
    CHECK(env.codes().empty());
}

TEST_CASE("cuDNN of both managers under one soname warns where the versions differ") {
    ContextBuilder env;
    cudnn_wheel(env, "12", "9.10.2.21");
    SECTION("they differ") {
        conda_cudnn(env, "9.1.1.17");
        const auto found = env.found();
        REQUIRE(found.size() == 1);
        CHECK(found[0].finding.code == "CE131");
        CHECK(found[0].finding.severity == facts::Severity::Warning);
        CHECK(is_case(
            found[0], "versions",
            {{"n", "2"}, {"names", "conda's libcudnn 9.1.1.17, nvidia-cudnn-cu12 9.10.2.21"}}));
    }
    SECTION("they are the same, packaged twice") {
        conda_cudnn(env, "9.10.2.32");
        CHECK(env.found("CE131").at(0).finding.severity == facts::Severity::Note);
    }
    SECTION("another soname") {
        auto& old = env.conda("cudnn", "8.9.7.29");
        env.file(old, "lib/libcudnn.so.8", "old");
        CHECK(env.found("CE131").at(0).finding.severity == facts::Severity::Note);
    }
}

TEST_CASE("cuDNN for two CUDAs in one directory overwrites itself") {
    ContextBuilder env;
    cudnn_wheel(env, "12", "9.10.2.21");
    cudnn_wheel(env, "13", "9.19.0.56");
    const auto found = env.found("CE131");
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.severity == facts::Severity::Warning);
    // The one installed last is whole.
    CHECK(env.found("CE133").empty());
}

TEST_CASE("NCCL of both managers is a note, and of two CUDAs in one path a warning") {
    ContextBuilder env;
    auto& ours = wheel(env, "nvidia-nccl-cu12", "2.27.3");
    env.file(ours, env.site() + "/nvidia/nccl/lib/libnccl.so.2", "for CUDA 12");
    SECTION("of both managers") {
        env.file(env.conda("nccl", "2.21.5.1"), "lib/libnccl.so.2", "conda's");
        const auto found = env.found();
        REQUIRE(found.size() == 1);
        CHECK(found[0].finding.code == "CE132");
        CHECK(found[0].finding.severity == facts::Severity::Note);
    }
    SECTION("of two CUDAs") {
        auto& other = wheel(env, "nvidia-nccl-cu13", "2.28.9");
        env.file(other, env.site() + "/nvidia/nccl/lib/libnccl.so.2", "for CUDA 13");
        CHECK(env.found("CE132").at(0).finding.severity == facts::Severity::Warning);
    }
}

TEST_CASE("libcudnn of one install and a part of another, as they lie there, are an error") {
    ContextBuilder env;
    cudnn_wheel(env, "12", "9.10.2.21");
    cudnn_wheel(env, "13", "9.19.0.56");
    const auto part = env.site() + "/nvidia/cudnn/lib/libcudnn_cnn.so.9";
    env.disk[part] = "libcudnn_cnn 9.10.2.21"; // as after half an install
    const auto found = env.found("CE133");
    REQUIRE(found.size() == 1);
    const auto& finding = found[0].finding;
    CHECK(finding.severity == facts::Severity::Error);
    CHECK(is_case(finding, "",
                  {{"major", "9"},
                   {"main", "nvidia-cudnn-cu13"},
                   {"part", "libcudnn_cnn.so.9"},
                   {"other", "nvidia-cudnn-cu12"}}));
    CHECK(finding.evidence[1].path == "/env/" + part);
    CHECK(found[0].files ==
          std::vector<std::string>{env.site() + "/nvidia/cudnn/lib/libcudnn.so.9", part});
    CHECK(finding.fix->command == "/env/bin/python -m pip install --force-reinstall --no-deps "
                                  "nvidia-cudnn-cu13==9.19.0.56");
    // The records alone do not show what is there.
    std::vector<CheckFinding> by_records;
    find_cuda_copies(env.context(CheckDepth::Records), by_records);
    CHECK(std::ranges::none_of(by_records,
                               [](const auto& one) { return one.finding.code == "CE133"; }));
}

TEST_CASE("parts of a cuDNN that brings no libcudnn of its own are an error beside another's") {
    ContextBuilder env;
    cudnn_wheel(env, "12", "9.12.0.46");
    auto& parts = wheel(env, "nvidia-cudnn-cu13", "9.13.0.50");
    const auto directory = env.site() + "/nvidia/cudnn/lib/";
    for (const std::string part : {"libcudnn_ops", "libcudnn_cnn"}) {
        env.file(parts, directory + part + ".so.9", part + " 9.13.0.50");
    }
    const auto found = env.found("CE133");
    REQUIRE(found.size() == 1);
    CHECK(is_case(found[0], "",
                  {{"main", "nvidia-cudnn-cu12"},
                   {"part", "libcudnn_ops.so.9"},
                   {"other", "nvidia-cudnn-cu13"}}));
    // Laid down again, the first is whole.
    for (const std::string part : {"libcudnn_ops", "libcudnn_cnn"}) {
        env.disk[directory + part + ".so.9"] = part + " 9.12.0.46";
    }
    CHECK(env.found("CE133").empty());
    // What the other brings and libcudnn's own package never had, it may not open at all.
    ContextBuilder other;
    auto& main = wheel(other, "nvidia-cudnn-cu12", "9.12.0.46");
    other.file(main, directory + "libcudnn.so.9", "main");
    auto& whole = wheel(other, "nvidia-cudnn-cu13", "9.13.0.50");
    other.file(whole, directory + "libcudnn.so.9", "of 13");
    other.file(whole, directory + "libcudnn_ops.so.9", "of 13");
    other.disk[directory + "libcudnn.so.9"] = "main";
    CHECK(other.found("CE133").empty());
}

TEST_CASE("a part that no record explains is left to other rules") {
    ContextBuilder env;
    cudnn_wheel(env, "12", "9.10.2.21");
    env.disk[env.site() + "/nvidia/cudnn/lib/libcudnn_cnn.so.9"] = "patched by hand";
    CHECK(env.found("CE133").empty());
}

TEST_CASE("conda's cuDNN whose part is of another release's package is an error by the records") {
    ContextBuilder env;
    auto& main = env.conda("libcudnn", "9.10.2.21");
    env.file(main, "lib/libcudnn.so.9", "main");
    SECTION("another release") {
        env.file(env.conda("libcudnn-parts", "9.1.1.17"), "lib/libcudnn_ops.so.9", "ops");
        CHECK(env.found("CE133").size() == 1);
    }
    SECTION("the same release, split") {
        env.file(env.conda("libcudnn-parts", "9.10.2.21"), "lib/libcudnn_ops.so.9", "ops");
        CHECK(env.codes().empty());
    }
    SECTION("another soname in the same directory") {
        auto& old = env.conda("cudnn", "8.9.7.29");
        env.file(old, "lib/libcudnn.so.8", "old");
        env.file(old, "lib/libcudnn_ops_infer.so.8", "old");
        CHECK(env.found("CE133").empty());
    }
}

} // namespace
} // namespace cudaenv::rules::testing
