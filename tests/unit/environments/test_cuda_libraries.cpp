#include "host/environments/cuda_libraries.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::environments {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("CUDA's libraries are known by their names") {
    for (const auto* name :
         {"libcudart.so.12", "libcudart.so.11.0", "libcublas.so.11", "libcublasLt.so.13",
          "libcudnn.so.9", "libcudnn_ops_infer.so.8", "libcudnn_engines_precompiled.so.9",
          "libnvrtc-builtins.so.12.4", "libnvrtc.so.11.2", "libnccl.so.2", "libcupti.so.2022.3.0",
          "libnvJitLink.so.12", "libnvToolsExt.so.1", "libnvtx3interop.so.1", "libnppial.so.11",
          "libcusparseLt.so.0", "libcufftw.so.10", "libcusolverMg.so.11"}) {
        INFO(name);
        CHECK(is_cuda_library(name));
    }
}

TEST_CASE("the driver's, mangled, unversioned and foreign names are no CUDA libraries") {
    for (const auto* name :
         {"libcuda.so.1", "libnvidia-ml.so.1", "libcudart-d0da41ae.so.11.0",
          "libcudnn-e0da41ae.so.8", "libnvrtc-builtins-1ea278b5.so.12.4", "libcudart.so",
          "libcudart.so.", "libcudart.so.bak", "libcudart.so.12.bak", "libcudart_static.a",
          "libc.so.6", "cudart.so.12", "libcudart.12.dylib", "", "lib.so.1", "libOpenCL.so.1"}) {
        INFO(name);
        CHECK_FALSE(is_cuda_library(name));
    }
}

TEST_CASE("of a library's names in one directory the soname is taken, not the file it leads to") {
    CHECK(cuda_sonames({"libcublas.so", "libcublas.so.11", "libcublas.so.11.11.3.6",
                        "libcudart.so.11.0", "libcudart.so.11.8.89", "libstdc++.so.6"}) ==
          Names{"libcublas.so.11", "libcudart.so.11.0"});
    // Two majors in one directory are two sonames, as wheels for 11 and 12 leave them.
    CHECK(cuda_sonames({"libcudart.so.12", "libcudart.so.11.0"}) ==
          Names{"libcudart.so.11.0", "libcudart.so.12"});
    CHECK(cuda_sonames({}).empty());
}

TEST_CASE("cuDNN is where its header is; its version is the header's") {
    test::FakeDisk disk;
    disk.file("/p/include/cudnn.h", "#include \"cudnn_version.h\"\n")
        .file("/p/include/cudnn_version.h",
              "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n")
        .file("/p/lib/libcudnn.so.8");
    auto place = cudnn_at(disk, "/p", {"include"}, {"lib64", "lib"});
    REQUIRE(place);
    CHECK(place->include_dir == "/p/include");
    CHECK(place->library_dir == "/p/lib");
    CHECK(place->library == "/p/lib/libcudnn.so.8");
    CHECK(place->version->str() == "8.9.7");
    // What compilers link is the plain name.
    disk.file("/p/lib64/libcudnn.so");
    place = cudnn_at(disk, "/p", {"include"}, {"lib64", "lib"});
    CHECK(place->library == "/p/lib64/libcudnn.so");
    CHECK_FALSE(cudnn_at(disk, "/q", {"include"}, {"lib"}));
}

TEST_CASE("cuDNN's header alone, old or broken, is still a place") {
    test::FakeDisk disk;
    disk.file("/old/include/cudnn.h",
              "#define CUDNN_MAJOR 7\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 5\n")
        .file("/broken/include/cudnn.h", "\xff\xfe")
        .file("/broken/lib/libcudnn.so.7.6.5")
        .file("/broken/lib/libcudnn.so.7");
    const auto old = cudnn_at(disk, "/old", {"include"}, {"lib"});
    REQUIRE(old);
    CHECK(old->version->str() == "7.6.5");
    CHECK(old->library.empty());
    CHECK(old->library_dir.empty());
    const auto broken = cudnn_at(disk, "/broken", {"include"}, {"lib"});
    REQUIRE(broken);
    CHECK_FALSE(broken->version);
    CHECK(broken->library == "/broken/lib/libcudnn.so.7");
}

} // namespace
} // namespace cudaenv::environments
