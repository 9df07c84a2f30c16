#include "host/toolkit_text.hpp"
#include "host/toolkits.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::host {
namespace {

std::string shown(const std::optional<DottedVersion>& version) {
    return version ? version->str() : "none";
}

TEST_CASE("version.json gives nvcc's version where it lists it") {
    CHECK(shown(parse_version_json(
              R"({"cuda": {"name": "CUDA SDK", "version": "11.3.20210326"},
                  "cuda_cudart": {"name": "CUDA Runtime", "version": "11.3.109"},
                  "cuda_nvcc": {
    "name" : "CUDA NVCC", "version" : "11.3.109"
}
})")) == "11.3.109");
    CHECK(shown(parse_version_json(
              R"({"cuda": {"name": "CUDA SDK", "version": "12.2.2"},
                  "cuda_nvcc": {"name": "CUDA NVCC", "version": "12.2.140"}})")) == "12.2.140");
}

TEST_CASE("version.json without nvcc gives the SDK's version, a build date left out") {
    CHECK(shown(parse_version_json(R"({"cuda": {"version": "12.4.1"}})")) == "12.4.1");
    CHECK(shown(parse_version_json(R"({"cuda": {"version": "11.1.20200818"}})")) == "11.1");
    CHECK(shown(parse_version_json(R"({"cuda": "11.8.0"})")) == "11.8.0");
    CHECK(shown(parse_version_json(R"({"version": "11.8.0"})")) == "11.8.0");
}

TEST_CASE("an nvcc of another release than the SDK is not taken for it") {
    CHECK(shown(parse_version_json(
              R"({"cuda": {"version": "12.4.1"}, "cuda_nvcc": {"version": "11.8.89"}})")) ==
          "12.4.1");
}

TEST_CASE("a broken version.json gives no version") {
    for (const auto* text : {"", "{", "[]", "null", R"({"cuda": {"version": 12}})",
                             R"({"cuda": {"version": "twelve"}})", R"({"cuda": {}})"}) {
        INFO(text);
        CHECK_FALSE(parse_version_json(text));
    }
}

TEST_CASE("version.txt is read, patches ignored") {
    CHECK(shown(parse_version_txt("CUDA Version 10.0.130\n")) == "10.0.130");
    CHECK(shown(parse_version_txt("CUDA Version 9.2.148\nCUDA Patch Version 9.2.148.1\n")) ==
          "9.2.148");
    CHECK_FALSE(parse_version_txt("hello"));
    CHECK_FALSE(parse_version_txt("CUDA Version \n"));
}

TEST_CASE("the headers' version macros are read") {
    CHECK(shown(parse_cuda_define("#define CUDA_VERSION 13000\n", "CUDA_VERSION")) == "13.0");
    CHECK(shown(parse_cuda_define(" * \\brief CUDA_VERSION is\n#define CUDA_VERSION 7050\n",
                                  "CUDA_VERSION")) == "7.5");
    CHECK(shown(parse_cuda_define("#  define CUDART_VERSION  12090\n", "CUDART_VERSION")) ==
          "12.9");
    CHECK_FALSE(parse_cuda_define("#define CUDA_VERSION_OLD 9000\n", "CUDA_VERSION"));
    CHECK_FALSE(parse_cuda_define("#define CUDA_VERSION 0\n", "CUDA_VERSION"));
    CHECK_FALSE(parse_cuda_define("#if CUDA_VERSION > 9000\n", "CUDA_VERSION"));
    CHECK_FALSE(parse_cuda_define("", "CUDA_VERSION"));
}

TEST_CASE("nvcc's own answer is read") {
    CHECK(shown(parse_nvcc_version("nvcc: NVIDIA (R) Cuda compiler driver\n"
                                   "Copyright (c) 2005-2025 NVIDIA Corporation\n"
                                   "Built on Wed_Aug_20_01:58:59_PM_PDT_2025\n"
                                   "Cuda compilation tools, release 13.0, V13.0.88\n"
                                   "Build cuda_13.0.r13.0/compiler.36424714_0\n")) == "13.0.88");
    CHECK(shown(parse_nvcc_version("Cuda compilation tools, release 7.5\n")) == "7.5");
    CHECK_FALSE(parse_nvcc_version("nvcc fatal   : unknown"));
}

TEST_CASE("cuDNN's headers of 7, 8 and 9 are read") {
    CHECK(shown(parse_cudnn_header("#define CUDNN_MAJOR 7\n#define CUDNN_MINOR 3\n"
                                   "#define CUDNN_PATCHLEVEL 1\n\n#define CUDNN_VERSION "
                                   "(CUDNN_MAJOR * 1000 + CUDNN_MINOR * 100 + "
                                   "CUDNN_PATCHLEVEL)\n")) == "7.3.1");
    CHECK(shown(parse_cudnn_header("#define CUDNN_VERSION_H_\n\n#define CUDNN_MAJOR 9\n#define "
                                   "CUDNN_MINOR 19\n#define CUDNN_PATCHLEVEL 0\n")) == "9.19.0");
    // cudnn.h of 8 and newer only includes cudnn_version.h.
    CHECK_FALSE(parse_cudnn_header("#include \"cudnn_version.h\"\n"));
}

TEST_CASE("NCCL's header is read") {
    CHECK(shown(parse_nccl_header(
              "#define NCCL_MAJOR 2\n#define NCCL_MINOR 28\n#define NCCL_PATCH 9\n#define "
              "NCCL_SUFFIX \"\"\n\n#define NCCL_VERSION_CODE 22809\n")) == "2.28.9");
    CHECK_FALSE(parse_nccl_header("#define NCCL_MAJOR 2\n"));
}

TEST_CASE("a library's file name contains its version") {
    CHECK(shown(parse_library_name("libcudnn.so.8.2.1", "libcudnn")) == "8.2.1");
    CHECK(shown(parse_library_name("libcudnn.so.9", "libcudnn")) == "9");
    CHECK_FALSE(parse_library_name("libcudnn.so", "libcudnn"));
    CHECK_FALSE(parse_library_name("libcudnn_ops.so.9.1.0", "libcudnn"));
    CHECK_FALSE(parse_library_name("libnccl.so.2.28.9", "libcudnn"));
}

TEST_CASE("the nvcc that a wrapper starts is found in its text") {
    CHECK(parse_nvcc_wrapper("#!/bin/sh\nexec /usr/local/cuda-13.0/bin/nvcc \"$@\"\n") ==
          "/usr/local/cuda-13.0/bin/nvcc");
    CHECK(parse_nvcc_wrapper("#!/bin/sh\n# see /etc/nvcc.profile\n"
                             "exec \"/usr/lib/nvidia-cuda-toolkit/bin/nvcc\" $FLAGS \"$@\"") ==
          "/usr/lib/nvidia-cuda-toolkit/bin/nvcc");
    CHECK(parse_nvcc_wrapper("#!/bin/sh\nexec $CUDA_HOME/bin/nvcc \"$@\"\n").empty());
    CHECK(parse_nvcc_wrapper("").empty());
}

} // namespace
} // namespace cudaenv::host
