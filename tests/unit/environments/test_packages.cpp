#include "host/environments/packages.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::host {
namespace {

std::string cuda(std::string_view text) {
    const auto found = cuda_in(text);
    return found ? found->str() : "none";
}

TEST_CASE("labels and build strings name their CUDA") {
    CHECK(cuda("cu118") == "11.8");
    CHECK(cuda("cu92") == "9.2");
    CHECK(cuda("cu100") == "10.0");
    CHECK(cuda("cu130") == "13.0");
    CHECK(cuda("cu117.with.pypi.cudnn") == "11.7");
    CHECK(cuda("cuda12.cudnn89") == "12");
    CHECK(cuda("cuda110") == "11.0");
    CHECK(cuda("cuda12x") == "12");
    CHECK(cuda("cuda11x") == "11");
    CHECK(cuda("py3.9_cuda11.8_cudnn8.7.0_0") == "11.8");
    CHECK(cuda("py3.5_cuda10.1.243_cudnn7.6.3_0") == "10.1");
    CHECK(cuda("py27cuda7.5cudnn5.1") == "7.5");
    CHECK(cuda("cuda118py39h06e0762_304") == "11.8");
    CHECK(cuda("cuda92py27hb0ba70e_0") == "9.2");
    CHECK(cuda("cuda129_mkl_py311_h333e2d5_303") == "12.9");
    CHECK(cuda("cuda120py311had15d7a_200") == "12.0");
}

TEST_CASE("what names no CUDA gives none") {
    for (const auto* text :
         {"", "cpu", "cpu_mkl_py311_h30d5c41_100", "py27had95abb_0", "rocm5.6", "gpu_py36hf93_0",
          "cudnn8", "cu", "cuda", "hcu118", "cu1234567890", "cpu.cxx11.abi"}) {
        INFO(text);
        CHECK(cuda(text) == "none");
    }
}

TEST_CASE("conda's records are name, version and build") {
    const auto record = parse_conda_record("gxx_impl_linux-64-12.3.0-h1562d66_6.json");
    REQUIRE(record);
    CHECK(record->name == "gxx_impl_linux-64");
    CHECK(record->version == "12.3.0");
    CHECK(record->build == "h1562d66_6");
    for (const auto* name : {"history", "a.json", "a-1.json", "-1-0.json", ".json", "--.json"}) {
        CHECK_FALSE(parse_conda_record(name));
    }
}

TEST_CASE("dist-info names are told in one spelling") {
    const auto info = parse_dist_info("nvidia_cuda_runtime_cu12-12.1.105.dist-info");
    REQUIRE(info);
    CHECK(info->name == "nvidia_cuda_runtime_cu12");
    CHECK(info->version == "12.1.105");
    CHECK(parse_dist_info("NVIDIA-cuda.runtime-cu11-11.7.99.dist-info")->name ==
          "nvidia_cuda_runtime_cu11");
    CHECK(parse_dist_info("torch-2.1.0+cu118.dist-info")->version == "2.1.0+cu118");
    for (const auto* name : {"torch", "torch.dist-info", "-1.0.dist-info", "torch-.dist-info"}) {
        CHECK_FALSE(parse_dist_info(name));
    }
}

} // namespace
} // namespace cudaenv::host
