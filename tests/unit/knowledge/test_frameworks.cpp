#include "solver/knowledge/knowledge.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace cudaenv;
using namespace cudaenv::knowledge;

TEST_CASE("TensorFlow releases ascend and carry the CUDA and cuDNN they were tested with") {
    const auto releases = tensorflow_releases();
    CHECK(std::ranges::is_sorted(releases, {}, &TensorflowRelease::tensorflow));
    const auto of = [&](const char* version) -> const TensorflowRelease& {
        return *std::ranges::find(releases, DottedVersion::of(version),
                                  &TensorflowRelease::tensorflow);
    };
    CHECK(of("2.4.0").cuda->str() == "11.0");
    CHECK(of("2.4.4").cuda->str() == "11.0");
    CHECK(of("2.10.1").cuda->str() == "11.2");
    CHECK(of("2.10.1").cudnn->str() == "8.1");
    CHECK(of("2.18.0").cuda->str() == "12.5");
    CHECK(of("2.18.0").and_cuda_extra);
    CHECK(std::ranges::count(of("2.18.0").and_cuda, "nvidia-cudnn-cu12==9.3.0.75") == 1);
    CHECK_FALSE(of("2.13.0").and_cuda_extra);
    // tensorrt 8.5.3.1 has wheels up to Python 3.10; tensorrt-libs 8.6.1 is not on the index.
    CHECK(of("2.14.1").and_cuda_extra);
    CHECK(of("2.14.1").and_cuda_pythons.back().str() == "3.10");
    CHECK_FALSE(of("2.15.0").and_cuda_extra);
    CHECK(of("2.15.0").and_cuda_missing == "tensorrt-libs==8.6.1");
    CHECK(of("2.15.1").and_cuda_extra);
    CHECK(of("1.15.0").package == "tensorflow-gpu");
    CHECK(of("2.18.0").pythons.front().str() == "3.9");
    CHECK(of("2.18.0").pythons.back().str() == "3.12");
    CHECK_FALSE(of("0.12.0").cuda);
}

TEST_CASE("cuDNN releases ascend; a run of patch releases in the matrix is each of them") {
    const auto releases = cudnn_releases();
    CHECK(std::ranges::is_sorted(releases, {}, &CudnnRelease::cudnn));
    for (const char* version : {"7.6.0", "7.6.1", "7.6.2", "7.6.5", "8.9.5", "8.9.6"}) {
        CAPTURE(version);
        CHECK(std::ranges::count(releases, DottedVersion::of(version), &CudnnRelease::cudnn) == 1);
    }
    const auto found =
        std::ranges::find(releases, DottedVersion::of("7.6.5"), &CudnnRelease::cudnn);
    CHECK(std::ranges::count(found->cudas, DottedVersion::of("10.2")) == 1);
    CHECK(found->min_driver->str() == "384.111");
    CHECK(found->soname == "libcudnn.so.7");
}

TEST_CASE("a cuDNN wheel says which CUDA majors it is published for") {
    const auto releases = cudnn_releases();
    const auto found =
        std::ranges::find(releases, DottedVersion::of("9.19.0.56"), &CudnnRelease::cudnn);
    REQUIRE(found != releases.end());
    CHECK(found->distributions ==
          std::vector<std::string>{"nvidia-cudnn-cu12", "nvidia-cudnn-cu13"});
    CHECK(found->soname == "libcudnn.so.9");
}

TEST_CASE("the soname of every cuDNN is that of its major") {
    for (const CudnnRelease& release : cudnn_releases()) {
        CAPTURE(release.cudnn.str());
        CHECK(release.soname == "libcudnn.so." + std::to_string(release.cudnn.major()));
        CHECK_FALSE(release.cudas.empty());
        CHECK_FALSE(release.source.empty());
    }
}

TEST_CASE("of the PyPI distributions only CUDA 13's nvcc carries a compiler that runs") {
    std::vector<std::string> with_nvcc;
    for (const PipDistribution& distribution : pip_distributions()) {
        if (distribution.has_nvcc) {
            with_nvcc.push_back(distribution.name);
        }
    }
    CHECK(with_nvcc == std::vector<std::string>{"nvidia-cuda-nvcc"});
}

TEST_CASE("the GPUs that a cuDNN serves follow the support matrix") {
    const auto floor = [](const char* cudnn) {
        const auto found = cudnn_floor(cudnn);
        return found ? found->least_gpu.str() : std::string("unknown");
    };
    CHECK(floor("8.1.0") == "unknown");
    CHECK(floor("9.1.0.70") == "5.0");
    CHECK(floor("9.10.1.4") == "5.0");
    CHECK(floor("9.10.2.21") == "5.0");
    CHECK(floor("9.11.0.98") == "7.5");
    CHECK(floor("9.28.0.12") == "7.5");
}
