#include "host/environments/packages.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::environments {
namespace {

TEST_CASE("conda's records are name, version and build") {
    const auto record = parse_conda_record("gxx_impl_linux-64-12.3.0-h1562d66_6.json");
    REQUIRE(record);
    CHECK(record->name == "gxx_impl_linux-64");
    CHECK(record->version == "12.3.0");
    CHECK(record->build == "h1562d66_6");
    for (const auto* name :
         {"history", "state.json", "a.json", "a-1.json", "-1-0.json", ".json", "--.json"}) {
        CHECK_FALSE(parse_conda_record(name));
    }
}

TEST_CASE("dist-info names have one spelling") {
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
} // namespace cudaenv::environments
