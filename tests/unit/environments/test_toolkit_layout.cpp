#include "host/environments/cuda_libraries.hpp"
#include "host/environments/environments.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::environments {
namespace {

using test::FakeDisk;
using Names = std::vector<std::string>;

const std::string k_machine = machine_name();
const std::string k_target = target_directories(k_machine).front();
const std::string k_multiarch = k_machine + "-linux-gnu";

std::string cudnn_header(int major, int minor) {
    return "#define CUDNN_MAJOR " + std::to_string(major) + "\n#define CUDNN_MINOR " +
           std::to_string(minor) + "\n#define CUDNN_PATCHLEVEL 0\n";
}

TEST_CASE("NVIDIA's toolkit has its parts below its root") {
    FakeDisk disk;
    const std::string path = "/usr/local/cuda-12.4";
    disk.program(path + "/bin/nvcc")
        .file(path + '/' + k_target + "/include/cuda.h", "#define CUDA_VERSION 12040\n")
        .file(path + '/' + k_target + "/lib/libcudart.so")
        .file(path + '/' + k_target + "/lib/libcudart.so.12")
        .file(path + '/' + k_target + "/lib/libcudart.so.12.4.127")
        .file(path + '/' + k_target + "/lib/stubs/libcuda.so")
        .file(path + "/compat/libcuda.so.1")
        .link(path + "/include", k_target + "/include")
        .link(path + "/lib64", k_target + "/lib")
        .directory(path + "/nvvm/libdevice");
    const auto layout = layout_of(disk, path);
    CHECK(layout.path == path);
    CHECK(layout.bin == path + "/bin");
    CHECK(layout.include == path + "/include");
    CHECK(layout.library == path + "/lib64");
    CHECK(layout.libdevice_root == path);
    CHECK(layout.sonames == Names{"libcudart.so.12"});
    CHECK_FALSE(layout.cudnn);
}

TEST_CASE("a conda environment's toolkit has headers in targets and libraries in lib") {
    FakeDisk disk;
    disk.program("/e/bin/nvcc")
        .file("/e/include/zlib.h")
        .file("/e/" + k_target + "/include/cuda.h")
        .file("/e/lib/libz.so.1")
        .file("/e/lib/libcudart.so")
        .file("/e/lib/libcudart.so.12")
        .file("/e/" + k_target + "/lib/libcudart.so")
        .directory("/e/nvvm/libdevice");
    const auto layout = layout_of(disk, "/e");
    CHECK(layout.include == "/e/" + k_target + "/include");
    CHECK(layout.library == "/e/lib");
    CHECK(layout.sonames == Names{"libcudart.so.12"});
    CHECK(layout.libdevice_root == "/e");
}

TEST_CASE("where only targets holds the library to link, that is the library directory") {
    FakeDisk disk;
    disk.program("/e/bin/nvcc")
        .file("/e/lib/libcudart.so.12")
        .file("/e/" + k_target + "/lib/libcudart.so");
    CHECK(layout_of(disk, "/e").library == "/e/" + k_target + "/lib");
}

TEST_CASE("pip's toolkit has versioned libraries only") {
    FakeDisk disk;
    const std::string path = "/v/lib/python3.12/site-packages/nvidia/cu13";
    disk.program(path + "/bin/nvcc")
        .file(path + "/include/cuda_runtime_api.h")
        .file(path + "/lib/libcudart.so.13")
        .file(path + "/lib/libcublas.so.13");
    const auto layout = layout_of(disk, path);
    CHECK(layout.bin == path + "/bin");
    CHECK(layout.include == path + "/include");
    CHECK(layout.library == path + "/lib");
    CHECK(layout.sonames == Names{"libcublas.so.13", "libcudart.so.13"});
    CHECK(layout.libdevice_root.empty());
}

TEST_CASE("Debian's toolkit is spread over the system's directories") {
    FakeDisk disk;
    disk.program("/usr/lib/nvidia-cuda-toolkit/bin/nvcc")
        .program("/usr/bin/nvcc", "#!/bin/sh\n")
        .file("/usr/include/cuda.h", "#define CUDA_VERSION 11080\n")
        .file("/usr/include/cudnn.h", cudnn_header(8, 9))
        .file("/usr/lib/" + k_multiarch + "/libcudnn.so")
        .file("/usr/lib/" + k_multiarch + "/libcudart.so")
        .file("/usr/lib/" + k_multiarch + "/libcudart.so.11.0")
        .directory("/usr/lib/cuda/nvvm/libdevice");
    const auto layout = layout_of(disk, "/usr/lib/nvidia-cuda-toolkit");
    CHECK(layout.bin == "/usr/lib/nvidia-cuda-toolkit/bin");
    CHECK(layout.include == "/usr/include");
    CHECK(layout.library == "/usr/lib/" + k_multiarch);
    CHECK(layout.sonames == Names{"libcudart.so.11.0"});
    CHECK(layout.libdevice_root == "/usr/lib/cuda");
    REQUIRE(layout.cudnn);
    CHECK(layout.cudnn->root == "/usr");
    CHECK(layout.cudnn->library == "/usr/lib/" + k_multiarch + "/libcudnn.so");
}

TEST_CASE("the system's cuDNN counts for the system's toolkits that it was made for") {
    FakeDisk disk;
    disk.file("/usr/include/" + k_multiarch + "/cudnn.h")
        .file("/usr/include/" + k_multiarch + "/cudnn_version.h", cudnn_header(8, 9))
        .file("/usr/lib/" + k_multiarch + "/libcudnn.so")
        .program("/usr/local/cuda-11.8/bin/nvcc")
        .file("/usr/local/cuda-11.8/include/cuda.h", "#define CUDA_VERSION 11080\n")
        .program("/usr/local/cuda-13.0/bin/nvcc")
        .file("/usr/local/cuda-13.0/include/cuda.h", "#define CUDA_VERSION 13000\n")
        .program("/home/u/cuda-11.8/bin/nvcc");
    const auto served = layout_of(disk, "/usr/local/cuda-11.8");
    REQUIRE(served.cudnn);
    CHECK(served.cudnn->include_dir == "/usr/include/" + k_multiarch);
    CHECK(served.cudnn->library_dir == "/usr/lib/" + k_multiarch);
    CHECK_FALSE(layout_of(disk, "/usr/local/cuda-13.0").cudnn);
    CHECK_FALSE(layout_of(disk, "/home/u/cuda-11.8").cudnn);
}

TEST_CASE("cuDNN inside the toolkit is before the system's") {
    FakeDisk disk;
    const std::string path = "/usr/local/cuda-12.4";
    disk.file("/usr/include/cudnn.h", cudnn_header(8, 9))
        .file(path + "/include/cudnn.h", cudnn_header(9, 1))
        .file(path + "/lib64/libcudnn.so");
    const auto layout = layout_of(disk, path);
    REQUIRE(layout.cudnn);
    CHECK(layout.cudnn->root == path);
    CHECK(layout.cudnn->version->str() == "9.1.0");
}

TEST_CASE("what is not there is empty") {
    FakeDisk disk;
    disk.directory("/opt/empty");
    for (const auto* path : {"/opt/empty", "/opt/missing"}) {
        const auto layout = layout_of(disk, path);
        CHECK(layout.path == path);
        CHECK(layout.bin.empty());
        CHECK(layout.include.empty());
        CHECK(layout.library.empty());
        CHECK(layout.libdevice_root.empty());
        CHECK(layout.sonames.empty());
        CHECK_FALSE(layout.cudnn);
    }
}

} // namespace
} // namespace cudaenv::environments
