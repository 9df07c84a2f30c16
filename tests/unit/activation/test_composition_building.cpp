// What building reads: host compilers, cuDNN's variables, and what only builds look at.
#include "composition_case.hpp"
#include "shellhooks/activation/host_compiler.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::activation;
using namespace cudaenv::patch;
using namespace cudaenv::activation::test;

TEST_CASE("the default g++ too new for nvcc, the newest that fits is set") {
    const Composition composition = Case().compose();
    REQUIRE(composition.host_compiler);
    CHECK(composition.host_compiler->path == "/usr/bin/g++-9");
    CHECK(set_to(composition, "CXX") == "/usr/bin/g++-9");
    CHECK(set_to(composition, "CC") == "/usr/bin/gcc-9");
    CHECK(set_to(composition, "CUDAHOSTCXX") == "/usr/bin/g++-9");
    CHECK(set_to(composition, "NVCC_CCBIN") == "/usr/bin/g++-9");
    CHECK(set_to(composition, "CUDACXX") == "/usr/local/cuda-11.3/bin/nvcc");
}

TEST_CASE("the default g++ is taken where it fits, though a newer one fits too") {
    Case there;
    there.situation.host.toolkits[1].gcc_max = 13;
    there.situation.host.compilers.push_back(gcc("/usr/bin/g++-13", "13.1.0"));
    CHECK(there.compose().host_compiler->path == "/usr/bin/g++-12");
}

TEST_CASE("clang is not chosen, and a warning says why and what would fit") {
    Case there;
    there.situation.host.compilers.erase(there.situation.host.compilers.begin());
    Composition composition = there.compose();
    CHECK_FALSE(composition.host_compiler);
    CHECK(set_to(composition, "CXX") == k_none);
    CHECK(set_to(composition, "NVCC_CCBIN") == k_none);
    REQUIRE(composition.warnings.size() == 1);
    CHECK(composition.warnings[0] ==
          "nvcc 11.3.109 accepts gcc 6-10 or clang 7-14, and only clang is here, with which torch "
          "extensions do not build: g++ 10 or older, from the distribution (as root)");
    there.situation.host.compilers.pop_back();
    there.situation.host.conda = {{"conda", "/opt/miniforge3", std::nullopt, ""}};
    composition = there.compose();
    CHECK_FALSE(composition.host_compiler);
    REQUIRE(composition.warnings.size() == 1);
    CHECK(composition.warnings[0] ==
          "nvcc 11.3.109 accepts gcc 6-10 or clang 7-14, and no such compiler is here: conda "
          "create -n cudaenv -c conda-forge gxx_linux-64=10");
}

TEST_CASE("a g++ that fits comes before the environment's own clang") {
    Case there;
    facts::Compiler own = there.situation.host.compilers.back();
    REQUIRE(own.family == facts::CompilerFamily::Clang);
    own.path = there.situation.environment->prefix + "/bin/clang++-14";
    there.situation.environment->compilers = {own};
    CHECK(there.compose().host_compiler->path == "/usr/bin/g++-9");
}

TEST_CASE("compilers that the user set and nvcc takes stay and decide the rest") {
    Case there;
    there.situation.host.compilers.push_back(gcc("/usr/bin/g++-10", "10.2.1"));
    SECTION("CXX") {
        there.situation.base["CXX"] = "ccache g++-9";
        const Composition composition = there.compose();
        CHECK(set_to(composition, "CXX") == k_none);
        CHECK(set_to(composition, "CC") == "/usr/bin/gcc-9");
        CHECK(set_to(composition, "NVCC_CCBIN") == "/usr/bin/g++-9");
    }
    SECTION("CC") {
        there.situation.base["CC"] = "gcc-9";
        const Composition composition = there.compose();
        CHECK(set_to(composition, "CC") == k_none);
        CHECK(set_to(composition, "CXX") == "/usr/bin/g++-9");
        CHECK(set_to(composition, "CUDAHOSTCXX") == "/usr/bin/g++-9");
    }
    SECTION("NVCC_CCBIN") {
        there.situation.base["NVCC_CCBIN"] = "/usr/bin/g++-9";
        const Composition composition = there.compose();
        CHECK(set_to(composition, "NVCC_CCBIN") == k_none);
        CHECK(set_to(composition, "CUDAHOSTCXX") == "/usr/bin/g++-9");
        CHECK(set_to(composition, "CXX") == "/usr/bin/g++-9");
    }
}

TEST_CASE("CC and CXX that nvcc refuses are replaced, with a note") {
    Case there;
    there.situation.base["CC"] = "gcc";
    there.situation.base["CXX"] = "/usr/bin/g++";
    const Composition composition = there.compose();
    CHECK(set_to(composition, "CXX") == "/usr/bin/g++-9");
    CHECK(set_to(composition, "CC") == "/usr/bin/gcc-9");
    CHECK(says(composition.notes, "accepts gcc 6-10 or clang 7-14 and refuses /usr/bin/g++"));
    CHECK(says(composition.notes, "refuses gcc"));
}

TEST_CASE("a compiler that nothing is known of is respected, nvcc gets one that it takes") {
    Case there;
    there.situation.base["CXX"] = "/opt/intel/icpx";
    const Composition composition = there.compose();
    CHECK(set_to(composition, "CXX") == k_none);
    CHECK(set_to(composition, "CC") == k_none);
    CHECK(set_to(composition, "NVCC_CCBIN") == "/usr/bin/g++-9");
}

TEST_CASE("a host compiler that the user gave nvcc and nvcc refuses is a warning, and stays") {
    Case there;
    there.situation.base["NVCC_CCBIN"] = "g++-12";
    const Composition composition = there.compose();
    CHECK(set_to(composition, "NVCC_CCBIN") == k_none);
    CHECK(set_to(composition, "CUDAHOSTCXX") == k_none);
    CHECK(says(composition.warnings, "NVCC_CCBIN is /usr/bin/g++-12, but nvcc 11.3.109 accepts"));
}

TEST_CASE("conda's compilers of the environment go before the machine's") {
    Case there;
    const std::string cxx = "/home/u/envs/apex/bin/x86_64-conda-linux-gnu-c++";
    there.situation.environment->kind = EnvironmentKind::Conda;
    there.situation.environment->compilers = {gcc(cxx, "10.4.0")};
    Composition composition = there.compose();
    CHECK(set_to(composition, "CXX") == cxx);
    CHECK(set_to(composition, "CC") == "/home/u/envs/apex/bin/x86_64-conda-linux-gnu-cc");
    SECTION("and where conda has set -ccbin, it is not set twice") {
        there.situation.base["CC"] = "/home/u/envs/apex/bin/x86_64-conda-linux-gnu-cc";
        there.situation.base["CXX"] = "/home/u/envs/apex/bin/x86_64-conda-linux-gnu-c++";
        there.situation.base["NVCC_PREPEND_FLAGS"] = " -ccbin=" + cxx;
        composition = there.compose();
        CHECK(set_to(composition, "CC") == k_none);
        CHECK(set_to(composition, "CXX") == k_none);
        CHECK(set_to(composition, "NVCC_CCBIN") == k_none);
        CHECK(set_to(composition, "CUDAHOSTCXX") == cxx);
    }
    SECTION("another environment's are not taken unasked") {
        there.situation.environment->compilers.clear();
        there.situation.host.compilers = {
            gcc("/home/u/envs/other/bin/x86_64-conda-linux-gnu-c++", "10.4.0")};
        CHECK_FALSE(there.compose().host_compiler);
    }
}

TEST_CASE("compilers = false leaves all five alone") {
    Case there;
    there.situation.config = config("[activate]\ncompilers = false\n");
    const Composition composition = there.compose();
    for (const char* const name : {"CC", "CXX", "CUDAHOSTCXX", "NVCC_CCBIN", "CUDACXX"}) {
        CHECK(set_to(composition, name) == k_none);
    }
    CHECK(set_to(composition, "CUDA_HOME") == "/usr/local/cuda-11.3");
}

TEST_CASE("the C driver beside a C++ driver is named only where the pattern is known") {
    CHECK(c_driver_beside("/usr/bin/g++-9") == "/usr/bin/gcc-9");
    CHECK(c_driver_beside("clang++-14") == "clang-14");
    CHECK(c_driver_beside("/e/bin/x86_64-conda-linux-gnu-c++") ==
          "/e/bin/x86_64-conda-linux-gnu-cc");
    CHECK(c_driver_beside("/e/bin/x86_64-conda-linux-gnu-g++") ==
          "/e/bin/x86_64-conda-linux-gnu-gcc");
    CHECK(c_driver_beside("/opt/icpx") == k_none);
    CHECK(c_driver_beside("/usr/bin/gcc") == k_none);
}

TEST_CASE("cuDNN with headers is set in the five variables that build scripts read") {
    Case there;
    const std::string root = "/home/u/envs/apex/lib/python3.9/site-packages/nvidia/cudnn";
    there.situation.environment->cudnn = {root, root + "/include", root + "/lib",
                                          root + "/lib/libcudnn.so.8", std::nullopt};
    Composition composition = there.compose();
    CHECK(set_to(composition, "CUDNN_HOME") == root);
    CHECK(set_to(composition, "CUDNN_PATH") == root);
    CHECK(set_to(composition, "CUDNN_INCLUDE_DIR") == root + "/include");
    CHECK(set_to(composition, "CUDNN_LIB_DIR") == root + "/lib");
    CHECK(set_to(composition, "CUDNN_LIBRARY") == root + "/lib/libcudnn.so.8");
    SECTION("the environment's has priority over the toolkit's") {
        there.layout.cudnn = {"/usr/local/cuda-11.3", "/usr/local/cuda-11.3/include", "", "",
                              std::nullopt};
        CHECK(set_to(there.compose(), "CUDNN_HOME") == root);
        there.situation.environment->cudnn.reset();
        composition = there.compose();
        CHECK(set_to(composition, "CUDNN_HOME") == "/usr/local/cuda-11.3");
        CHECK(set_to(composition, "CUDNN_LIBRARY") == k_none);
    }
    SECTION("one of them set by the user keeps all of them the user's") {
        there.situation.base["CUDNN_PATH"] = "/opt/cudnn";
        composition = there.compose();
        CHECK(set_to(composition, "CUDNN_HOME") == k_none);
        CHECK(set_to(composition, "CUDNN_INCLUDE_DIR") == k_none);
    }
    SECTION("the system's has no root that would put /usr/include before the standard headers") {
        there.situation.environment->cudnn = {"/usr", "/usr/include", "/usr/lib/x86_64-linux-gnu",
                                              "/usr/lib/x86_64-linux-gnu/libcudnn.so",
                                              std::nullopt};
        composition = there.compose();
        CHECK(set_to(composition, "CUDNN_HOME") == k_none);
        CHECK(set_to(composition, "CUDNN_INCLUDE_DIR") == "/usr/include");
    }
    SECTION("without headers nothing can be built with it") {
        there.situation.environment->cudnn->include_dir.clear();
        CHECK(set_to(there.compose(), "CUDNN_LIBRARY") == k_none);
    }
}

TEST_CASE("what only building reads is set for building alone") {
    Case there;
    there.situation.host.gpus.resize(2);
    there.situation.host.gpus[0].compute_capability = ComputeCapability{8, 6};
    there.situation.host.gpus[1].compute_capability = ComputeCapability{7, 5};
    there.situation.host.gpus[1].index = 1;
    there.situation.machine = {8, std::uint64_t{10} << 30};
    Composition composition = there.compose();
    for (const char* const name : {"MAX_JOBS", "TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "XLA_FLAGS"}) {
        CHECK(set_to(composition, name) == k_none);
    }
    CHECK(added(composition, "CPLUS_INCLUDE_PATH", End::Back).empty());

    there.situation.config = config("[resolve]\nfor = \"build\"\n");
    composition = there.compose();
    CHECK(set_to(composition, "MAX_JOBS") == "4");
    CHECK(set_to(composition, "TORCH_CUDA_ARCH_LIST") == "7.5;8.6+PTX");
    CHECK(set_to(composition, "CUDAARCHS") == "75;86");
    CHECK(set_to(composition, "XLA_FLAGS") == "--xla_gpu_cuda_data_dir=/usr/local/cuda-11.3");
    CHECK(added(composition, "CPLUS_INCLUDE_PATH", End::Back) ==
          Entries{"/usr/local/cuda-11.3/include"});
    CHECK(added(composition, "LIBRARY_PATH", End::Back) == Entries{"/usr/local/cuda-11.3/lib64"});
    CHECK(added(composition, "CMAKE_PREFIX_PATH", End::Back) ==
          Entries{"/home/u/envs/apex", "/usr/local/cuda-11.3"});

    SECTION("never over what the user set") {
        for (const char* const name :
             {"MAX_JOBS", "TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "XLA_FLAGS"}) {
            there.situation.base[name] = "mine";
        }
        composition = there.compose();
        for (const char* const name :
             {"MAX_JOBS", "TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "XLA_FLAGS"}) {
            CHECK(set_to(composition, name) == k_none);
        }
    }
    SECTION("for the GPUs that this shell's programs see") {
        there.situation.base["CUDA_VISIBLE_DEVICES"] = "1";
        CHECK(set_to(there.compose(), "TORCH_CUDA_ARCH_LIST") == "7.5+PTX");
    }
    SECTION("a GPU newer than nvcc is served by the newest that nvcc makes, with PTX") {
        there.situation.host.gpus[0].compute_capability = ComputeCapability{9, 0};
        composition = there.compose();
        CHECK(set_to(composition, "TORCH_CUDA_ARCH_LIST") == "7.5;8.6+PTX");
        CHECK(set_to(composition, "CUDAARCHS") == "75;86");
    }
    SECTION("without a GPU no targets are made up") {
        there.situation.host.gpus.clear();
        CHECK(set_to(there.compose(), "TORCH_CUDA_ARCH_LIST") == k_none);
        CHECK(set_to(there.compose(), "CUDAARCHS") == k_none);
    }
    SECTION("without a GPU the targets of the project or the user are built for") {
        there.situation.host.gpus.clear();
        there.situation.config =
            config("[resolve]\nfor = \"build\"\ntargets = [\"8.6\", \"8.0\"]\n");
        CHECK(set_to(there.compose(), "TORCH_CUDA_ARCH_LIST") == "8.0;8.6+PTX");
        CHECK(set_to(there.compose(), "CUDAARCHS") == "80;86");
    }
    SECTION("one job at least, and no more than cores") {
        there.situation.machine = {8, std::uint64_t{1} << 30};
        CHECK(set_to(there.compose(), "MAX_JOBS") == "1");
        there.situation.machine = {8, std::nullopt};
        CHECK(set_to(there.compose(), "MAX_JOBS") == "8");
    }
}
