#include "host/platform.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::host {
namespace {

using test::FakeDisk;

TEST_CASE("os-release gives the name people know") {
    CHECK(parse_os_release("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian "
                           "GNU/Linux\"\nVERSION_ID=\"12\"\n") == "Debian 12");
    CHECK(parse_os_release("NAME='Ubuntu'\nVERSION_ID=22.04\n") == "Ubuntu 22.04");
    CHECK(parse_os_release("NAME=\"Arch Linux\"\nPRETTY_NAME=\"Arch Linux\"\n") == "Arch");
    CHECK(parse_os_release("PRETTY_NAME=Something\n") == "Something");
    CHECK(parse_os_release("").empty());
}

TEST_CASE("a kernel's release loses its distribution's tail") {
    CHECK(kernel_version("6.1.0-18-amd64") == "6.1.0");
    CHECK(kernel_version("5.15.153.1-microsoft-standard-WSL2") == "5.15.153.1");
    CHECK(kernel_version("6.8") == "6.8");
    CHECK(kernel_version("").empty());
}

TEST_CASE("process 1's control group names its container, a host's services do not") {
    CHECK(parse_cgroup("12:devices:/docker/0123456789abcdef\n0::/\n") == "docker");
    CHECK(parse_cgroup("11:cpu:/kubepods/burstable/pod1/abc\n") == "kubernetes");
    CHECK(parse_cgroup("1:name=systemd:/lxc/c1\n") == "lxc");
    CHECK(parse_cgroup("0::/init.scope\n").empty());
    CHECK(parse_cgroup("0::/system.slice/docker.service\n").empty());
    CHECK(parse_cgroup("").empty());
}

TEST_CASE("each kind of container is known by its witness, and the witness is the source") {
    FakeDisk docker;
    docker.file("/.dockerenv");
    const auto in_docker = find_platform(docker, {}, {});
    CHECK(in_docker.platform.container == "docker");
    CHECK(in_docker.sources.at("container") == "/.dockerenv");

    FakeDisk podman;
    podman.file("/run/.containerenv", "engine=\"podman-4.3.1\"\n");
    CHECK(find_platform(podman, {}, {}).platform.container == "podman");

    FakeDisk nspawn;
    nspawn.file("/run/systemd/container", "systemd-nspawn\n").file("/.dockerenv");
    CHECK(find_platform(nspawn, {}, {}).platform.container == "systemd-nspawn");

    FakeDisk plain;
    plain.file("/proc/1/cgroup", "0::/init.scope\n");
    CHECK(find_platform(plain, {{"container", ""}}, {}).platform.container.empty());
    CHECK(find_platform(plain, {{"container", "lxc"}}, {}).platform.container == "lxc");
    CHECK(find_platform(plain, {{"APPTAINER_CONTAINER", "/x.sif"}}, {}).platform.container ==
          "apptainer");
}

TEST_CASE("WSL is known by its kernel, a Jetson by its files") {
    FakeDisk empty;
    SystemIdentity wsl;
    wsl.release = "5.15.153.1-microsoft-standard-WSL2";
    CHECK(find_platform(empty, {}, wsl).platform.wsl);
    CHECK_FALSE(find_platform(empty, {}, {}).platform.wsl);

    FakeDisk jetson;
    jetson.file("/proc/device-tree/model", std::string("NVIDIA Jetson Xavier NX\0", 24));
    CHECK(find_platform(jetson, {}, {}).platform.jetson);
    FakeDisk raspberry;
    raspberry.file("/proc/device-tree/model", "Raspberry Pi 4 Model B");
    CHECK_FALSE(find_platform(raspberry, {}, {}).platform.jetson);
}

TEST_CASE("a machine without os-release says why its distribution is not known") {
    FakeDisk empty;
    const auto findings = find_platform(empty, {}, {});
    CHECK(findings.distribution.empty());
    CHECK_FALSE(findings.absent.at("distribution").empty());
    CHECK_FALSE(findings.sources.contains("distribution"));
}

} // namespace
} // namespace cudaenv::host
