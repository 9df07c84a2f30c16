#include "host/environments/cuda_libraries.hpp"
#include "host/probe/driver_files.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::probe {
namespace {

using test::FakeDisk;

const std::string k_libraries = "/usr/lib/" + environments::machine_name() + "-linux-gnu";
constexpr const char* k_module = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.10  "
                                 "Thu Jan 23 07:54:28 UTC 2025\nGCC version:  gcc 12.2.0\n";

// libcuda.so.1 and the file of that version, as a driver's package has them.
void add_libcuda(FakeDisk& disk, const std::string& directory, const std::string& version) {
    disk.link(directory + "/libcuda.so.1", "libcuda.so." + version)
        .file(directory + "/libcuda.so." + version);
}

FakeDisk with_module() {
    FakeDisk disk;
    disk.file("/proc/driver/nvidia/version", k_module);
    return disk;
}

TEST_CASE("a driver that was upgraded under the running system is seen in its files") {
    FakeDisk disk = with_module();
    add_libcuda(disk, k_libraries, "580.95.05");
    const auto driver = look_at_driver(disk);
    CHECK(driver.differ());
    CHECK(driver.library_version == DottedVersion::of("580.95.05"));
    CHECK(driver.library == k_libraries + "/libcuda.so.580.95.05");
}

TEST_CASE("whether a driver was upgraded or downgraded is reported with both versions") {
    DriverFiles driver;
    CHECK(tell_change(driver).empty());
    driver.module = DottedVersion::of("570.86.10");
    driver.library_version = driver.module;
    CHECK(tell_change(driver).empty());
    driver.library_version = DottedVersion::of("580.95.05");
    CHECK(tell_change(driver) ==
          "the driver was upgraded under the running system: its library is 580.95.05, the loaded "
          "kernel module 570.86.10; CUDA fails until a reboot");
    driver.library_version = DottedVersion::of("550.54.15");
    CHECK(tell_change(driver) ==
          "the driver was downgraded under the running system: its library is 550.54.15, the "
          "loaded kernel module 570.86.10; CUDA fails until a reboot");
}

TEST_CASE(
    "a driver whose library is the module's, or has no version in its name, is no complaint") {
    FakeDisk disk = with_module();
    add_libcuda(disk, "/usr/lib64", "570.86.10");
    CHECK(look_at_driver(disk).library_version == DottedVersion::of("570.86.10"));
    CHECK_FALSE(look_at_driver(disk).differ());

    FakeDisk plain = with_module();
    plain.file(k_libraries + "/libcuda.so.1");
    CHECK_FALSE(look_at_driver(plain).differ());

    FakeDisk wsl = with_module();
    add_libcuda(wsl, k_libraries, "1.1");
    CHECK_FALSE(look_at_driver(wsl).library_version);
}

TEST_CASE("an old libcuda of an image is no complaint where the module's own lies beside it") {
    FakeDisk disk = with_module();
    add_libcuda(disk, k_libraries, "535.54.03");
    add_libcuda(disk, "/usr/local/nvidia/lib64", "570.86.10");
    CHECK_FALSE(look_at_driver(disk).differ());
    CHECK(look_at_driver(disk).library == "/usr/local/nvidia/lib64/libcuda.so.570.86.10");

    FakeDisk both_differ = with_module();
    add_libcuda(both_differ, k_libraries, "535.54.03");
    add_libcuda(both_differ, "/usr/local/nvidia/lib64", "580.95.05");
    CHECK(look_at_driver(both_differ).library_version == DottedVersion::of("535.54.03"));
}

TEST_CASE("without a kernel module no library is looked for") {
    FakeDisk disk;
    add_libcuda(disk, k_libraries, "580.95.05");
    CHECK(look_at_driver(disk).library.empty());
    CHECK(disk.log().size() == 1);
}

} // namespace
} // namespace cudaenv::probe
