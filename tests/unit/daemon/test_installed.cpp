#include "daemon/known_environment.hpp"
#include "host/environments/environments.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::daemon;

TEST_CASE("what an environment holds is read off the names of conda's records and of wheels") {
    const test::TemporaryTree tree;
    tree.file("conda-meta/pytorch-1.12.1-py3.9_cuda11.3_cudnn8.3.2_0.json", "{}");
    tree.file("conda-meta/cuda-nvcc-12.4.131-h02f8991_0.json", "{}");
    tree.file("conda-meta/history", "");
    tree.file("lib/python3.9/site-packages/torchvision-0.13.1+cu113.dist-info/METADATA", "");
    tree.file("lib/python3.9/site-packages/Nvidia_cudnn.cu12-9.1.0.70.dist-info/METADATA", "");
    tree.file("lib/python3.9/site-packages/-1.dist-info/METADATA", "");
    tree.file("lib/python3.9/site-packages/torch/version.py", "");
    host::DiskFileSystem files;
    const auto facts = environments::read_environment(files, tree.path());
    REQUIRE(facts);
    CHECK(names_and_versions(*facts) ==
          std::vector<std::string>{"cuda-nvcc==12.4.131", "nvidia-cudnn-cu12==9.1.0.70",
                                   "pytorch==1.12.1", "torchvision==0.13.1+cu113"});
    std::vector<std::string> shown;
    for (const auto& installed : known_environment(facts, {}, {}).installed) {
        shown.push_back(installed.shown());
    }
    CHECK(shown == std::vector<std::string>{"cuda-nvcc 12.4.131", "nvidia-cudnn-cu12 9.1.0.70",
                                            "torch 1.12.1+cu113", "torchvision 0.13.1+cu113"});
    CHECK_FALSE(known_environment({}, {}, {}).exists());
}
