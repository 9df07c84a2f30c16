#include "solver/specs/cuda_label.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace cudaenv::specs {
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
    CHECK(cuda("py39_cu113") == "11.3");
    CHECK(cuda("cuda126_generic_py312h1234_200") == "12.6");
    CHECK(cuda("cuda12") == "12");
}

TEST_CASE("what names no CUDA gives none") {
    for (const auto* text : {"", "cpu", "cpu_mkl_py311_h30d5c41_100", "py27had95abb_0", "rocm5.6",
                             "gpu_py36hf93_0", "cudnn8", "cu", "cuda", "hcu118", "cu1234567890",
                             "cpu.cxx11.abi", "py311_accurate118", "git123cu"}) {
        INFO(text);
        CHECK(cuda(text) == "none");
    }
}

} // namespace
} // namespace cudaenv::specs
