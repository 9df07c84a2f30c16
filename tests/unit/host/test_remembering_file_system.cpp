#include "host/file_system.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;

TEST_CASE("each question is asked once, and what is absent is remembered too") {
    test::FakeDisk disk;
    disk.file("/proc/version", "6.1").directory("/dev").link("/lib", "usr/lib");
    host::RememberingFileSystem remembering(disk);
    host::FileSystem& files = remembering;
    const auto ask = [&] {
        CHECK(files.read_file("/proc/version") == "6.1");
        CHECK(files.read_file("/proc/version", 1) == "6"); // another question
        CHECK_FALSE(files.read_file("/proc/driver/nvidia/version"));
        CHECK(files.list_directory("/dev")->empty());
        CHECK(files.real_path("/dev") == "/dev");
        CHECK(files.read_link("/lib") == "usr/lib");
        CHECK(files.status("/proc/version")->size == 3);
        CHECK_FALSE(files.exists("/etc"));
    };
    ask();
    const std::size_t asked = disk.log().size();
    disk.file("/proc/driver/nvidia/version", "580").file("/dev/nvidia0");
    ask();
    CHECK(disk.log().size() == asked);
}
