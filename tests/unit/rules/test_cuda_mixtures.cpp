// Parts of CUDA that were installed beside each other and do not fit: CE123, CE134, CE135.
#include "tests/unit/rules/cuda_environments.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using Codes = std::vector<std::string>;

TEST_CASE("torch of another CUDA than conda's cudatoolkit, which nothing else uses, is a warning") {
    ContextBuilder env;
    env.conda("cudatoolkit", "11.3.1");
    wheel(env, "torch", "1.12.1+cu102");
    REQUIRE(env.codes() == Codes{"CE123"});
    const auto found = env.found()[0];
    CHECK(is_case(found, "", {{"torch", "1.12.1+cu102"}, {"cuda", "10.2"}, {"toolkit", "11.3"}}));
    CHECK(found.finding.fix->command.find("torch==1.12.1+cu113") != std::string::npos);
    CHECK(env.codes(CheckDepth::Records) == Codes{"CE123"});
    SECTION("not where another package uses the toolkit") {
        env.conda("numba", "0.56.4");
        CHECK(env.codes().empty());
    }
    SECTION("not where torch is of that CUDA") {
        env.inventory.distributions[0].version = "1.12.1+cu113";
        CHECK(env.codes().empty());
    }
}

TEST_CASE("nvcc from pip beside parts of another CUDA release is an error") {
    ContextBuilder env;
    wheel(env, "nvidia-cuda-nvcc", "13.0.88");
    auto& nvvm = wheel(env, "nvidia-nvvm", "13.5.37");
    auto& crt = wheel(env, "nvidia-cuda-crt", "13.5.37");
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE134"});
    }
    const auto found = env.found()[0];
    CHECK(found.finding.severity == facts::Severity::Error);
    CHECK(is_case(found, "",
                  {{"nvcc", "nvidia-cuda-nvcc 13.0.88"},
                   {"part", "nvidia-nvvm 13.5.37"},
                   {"release", "13.0"}}));
    CHECK(found.finding.evidence.size() == 3);
    CHECK(found.finding.fix->command.find("cuda-toolkit[nvcc,") != std::string::npos);
    CHECK(found.finding.fix->command.find("==13.0.*") != std::string::npos);
    nvvm.version = "13.0.88";
    crt.version = "13.0.85"; // an update of the same release
    CHECK(env.codes().empty());
}

TEST_CASE("another cuDNN on LD_LIBRARY_PATH before the one that torch requires is a finding") {
    ContextBuilder env;
    auto& torch = wheel(env, "torch", "2.6.0+cu124", {"nvidia-cudnn-cu12==9.1.0.70"});
    wheel(env, "nvidia-cudnn-cu12", "9.1.0.70");
    env.library_path = "/home/me/lib:/opt/cudnn/lib";
    env.searched = {{"libcudnn.so.8", "/home/me/lib", "8.9.7", false},
                    {"libcudnn.so.9", "/opt/cudnn/lib", "9.0.0", false}};
    SECTION("an error where torch refuses it") {
        const auto found = env.found("CE135").at(0);
        CHECK(found.finding.severity == facts::Severity::Error);
        CHECK(is_case(found, "",
                      {{"library", "libcudnn.so.9"},
                       {"wheel", "nvidia-cudnn-cu12 9.1.0.70"},
                       {"path", "/opt/cudnn/lib/libcudnn.so.9"},
                       {"fails", "yes"}}));
        CHECK(found.finding.fix->command == "export LD_LIBRARY_PATH=/home/me/lib");
        CHECK(env.codes(CheckDepth::Records).empty());
    }
    SECTION("a warning where its version is not known") {
        env.searched[1].version = "9";
        CHECK(is_case(env.found("CE135").at(0), "", {{"fails", ""}}));
        CHECK(env.found("CE135").at(0).finding.severity == facts::Severity::Warning);
    }
    SECTION("a warning where torch accepts a newer one") {
        env.searched[1].version = "9.14.0";
        CHECK(is_case(env.found("CE135").at(0), "", {{"fails", ""}}));
        CHECK(env.found("CE135").at(0).finding.severity == facts::Severity::Warning);
    }
    SECTION("also where torch opens its own first, whose parts are searched for") {
        torch.version = "2.15.0+cu132";
        CHECK(env.found("CE135").at(0).finding.severity == facts::Severity::Error);
    }
    SECTION("an error whatever the torch where LD_PRELOAD loads it") {
        torch.version = "2.15.0+cu132";
        env.searched[1].preloaded = true;
        const auto found = env.found("CE135").at(0);
        CHECK(found.finding.severity == facts::Severity::Error);
        CHECK(is_case(found, "", {{"variable", "LD_PRELOAD"}, {"fails", "yes"}}));
        CHECK(found.finding.fix->command == "unset LD_PRELOAD");
    }
    SECTION("the last directory") {
        env.library_path = "/opt/cudnn/lib";
        CHECK(env.found("CE135").at(0).finding.fix->command == "unset LD_LIBRARY_PATH");
    }
    SECTION("silent where the environment's own is found first") {
        env.searched[1].of_environment = true;
        CHECK(env.codes().empty());
    }
    SECTION("silent where only another major is there") {
        env.searched.pop_back();
        CHECK(env.codes().empty());
    }
    SECTION("silent where torch requires no cuDNN") {
        torch.requires_dist.clear();
        CHECK(env.codes().empty());
    }
}

} // namespace
TEST_CASE("another CUDA library that LD_PRELOAD loads is a warning") {
    ContextBuilder env;
    wheel(env, "torch", "2.6.0+cu124",
          {"nvidia-cublas-cu12==12.4.5.8", "nvidia-cuda-runtime-cu12==12.4.127"});
    wheel(env, "nvidia-cublas-cu12", "12.4.5.8");
    wheel(env, "nvidia-cuda-runtime-cu12", "12.4.127");
    const std::string toolkit = "/usr/local/cuda-12.1/lib64";
    env.searched = {{"libcudart.so.12", toolkit, "12.1.105", false, true},
                    {"libcublasLt.so.12", toolkit, "12.1.3.1", false, true}};
    SECTION("each library") {
        const auto found = env.found("CE135");
        REQUIRE(found.size() == 2);
        CHECK(is_case(found[0], "cuda", {{"library", "libcublasLt.so.12"}}));
        CHECK(is_case(found[1], "cuda",
                      {{"variable", "LD_PRELOAD"},
                       {"library", "libcudart.so.12"},
                       {"wheel", "nvidia-cuda-runtime-cu12 12.4.127"}}));
        CHECK(found[1].finding.severity == facts::Severity::Warning);
    }
    SECTION("silent on LD_LIBRARY_PATH, which torch's libraries search later than its wheels") {
        for (auto& one : env.searched) {
            one.preloaded = false;
        }
        CHECK(env.codes().empty());
    }
    SECTION("silent for another major") {
        env.searched[0].name = "libcudart.so.11.0";
        env.searched.pop_back();
        CHECK(env.codes().empty());
    }
}

TEST_CASE("an older nvJitLink on LD_LIBRARY_PATH ends the import of a torch before 2.6") {
    ContextBuilder env;
    auto& torch = wheel(env, "torch", "2.5.1+cu124", {"nvidia-nvjitlink-cu12==12.4.127"});
    wheel(env, "nvidia-nvjitlink-cu12", "12.4.127");
    env.library_path = "/usr/local/cuda-12.1/lib64";
    env.searched = {{"libnvJitLink.so.12", env.library_path, "12.1.105", false}};
    SECTION("an error") {
        const auto found = env.found("CE135").at(0);
        CHECK(found.finding.severity == facts::Severity::Error);
        CHECK(is_case(found, "link", {{"wheel", "nvidia-nvjitlink-cu12 12.4.127"}}));
        CHECK(found.finding.fix->command == "unset LD_LIBRARY_PATH");
    }
    SECTION("a warning where its version is not known") {
        env.searched[0].version = "12";
        CHECK(env.found("CE135").at(0).finding.severity == facts::Severity::Warning);
    }
    SECTION("silent for a newer one") {
        env.searched[0].version = "12.6.85";
        CHECK(env.codes().empty());
    }
    SECTION("silent since torch opens its own by its path") {
        torch.version = "2.6.0+cu124";
        CHECK(env.codes().empty());
    }
}

} // namespace cudaenv::rules::testing
