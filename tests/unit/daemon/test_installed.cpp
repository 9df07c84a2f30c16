#include "daemon/environment_of_request.hpp"
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
    CHECK(installed_in(tree.path()) ==
          std::vector<std::string>{"cuda-nvcc==12.4.131", "nvidia-cudnn-cu12==9.1.0.70",
                                   "pytorch==1.12.1", "torchvision==0.13.1+cu113"});
    CHECK(installed_in(tree.path() + "/absent").empty());
    CHECK(installed_in("").empty());
}
