#include "host/driver.hpp"
#include "tests/support/fake_disk.hpp"
#include "tests/support/fake_processes.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::host {
namespace {

using test::FakeDisk;
using test::FakeProcesses;

constexpr const char* k_probe = "/usr/libexec/cudaenv/cudaenv-probe";
constexpr const char* k_ask = "/usr/libexec/cudaenv/cudaenv-probe --facts";
constexpr const char* k_470 =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.199.02  Thu May 11 11:46:56 UTC 2023\n";
constexpr const char* k_580 = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                              "580.65.06  Release Build  (dvs-builder@U22)\n";

void add_card(FakeDisk& disk, const std::string& slot, const std::string& device,
              const std::string& driver = {}, const std::string& device_class = "30000") {
    disk.file("/sys/bus/pci/devices/" + slot + "/uevent",
              (driver.empty() ? "" : "DRIVER=" + driver + "\n") + "PCI_CLASS=" + device_class +
                  "\nPCI_ID=10DE:" + device + "\n");
}

FakeDisk with_module(const char* proc_version) {
    FakeDisk disk;
    disk.file("/proc/driver/nvidia/version", proc_version)
        .file("/dev/nvidiactl")
        .file("/dev/nvidia0");
    return disk;
}

TEST_CASE("a driver asked by NVML gives its CUDA and its GPUs") {
    auto disk = with_module(k_470);
    FakeProcesses processes;
    processes.answer(
        k_ask, R"({"driver_version": "470.199.02", "cuda_driver_version": "11.4", "errors": [],
                  "gpus": [{"index": 0, "name": "GeForce RTX 3090", "cc": "8.6"},
                           {"index": 1, "name": "GeForce GTX 1080 Ti", "cc": "6.1"}]})");
    const auto found = find_driver(disk, processes, {}, {k_probe});
    REQUIRE(found.driver);
    CHECK(found.driver->version->str() == "470.199.02");
    CHECK(found.driver->cuda->str() == "11.4");
    CHECK(found.driver->kind == facts::DriverKind::Proprietary);
    CHECK_FALSE(found.driver->derived);
    CHECK(found.driver->source == "NVML");
    REQUIRE(found.gpus.size() == 2);
    CHECK(found.gpus[1].compute_capability == ComputeCapability{6, 1});
    CHECK(found.gpus[1].last_driver_branch->str() == "580"); // Pascal's last
    CHECK(found.gpus_absent.empty());
    CHECK(found.notes.empty());
}

TEST_CASE("a probe that hangs leaves the branch table's answer, marked derived, with the reason") {
    auto disk = with_module(k_470);
    FakeProcesses processes;
    processes.hang(k_ask);
    const auto found = find_driver(disk, processes, {}, {k_probe});
    REQUIRE(found.driver);
    CHECK(found.driver->cuda->str() == "11.4");
    CHECK(found.driver->derived);
    CHECK(found.driver->source.find("/proc/driver/nvidia/version") != std::string::npos);
    CHECK(found.driver->source.find("no answer within") != std::string::npos);
}

TEST_CASE("the open module of branch 580 gives CUDA 13.0 without NVML") {
    auto disk = with_module(k_580);
    FakeProcesses processes;
    const auto found = find_driver(disk, processes, {}, {});
    REQUIRE(found.driver);
    CHECK(found.driver->kind == facts::DriverKind::Open);
    CHECK(found.driver->cuda->str() == "13.0");
    CHECK(processes.started.empty());
}

TEST_CASE("the module's sysfs version stands in for a masked /proc") {
    FakeDisk disk;
    disk.file("/sys/module/nvidia/version", "535.183.01\n")
        .file("/dev/nvidiactl")
        .file("/dev/nvidia0");
    FakeProcesses processes;
    const auto found = find_driver(disk, processes, {}, {});
    REQUIRE(found.driver);
    CHECK(found.driver->version->str() == "535.183.01");
    CHECK(found.driver->cuda->str() == "12.2");
    CHECK_FALSE(found.driver->kind);
}

TEST_CASE("libraries of another version than the loaded module are reported") {
    auto disk = with_module(k_580);
    FakeProcesses processes;
    processes.answer(k_ask, R"({"driver_version": "580.105.08", "cuda_driver_version": "13.0",
                               "errors": ["nvmlInit_v2: Driver/library version mismatch"]})");
    const auto found = find_driver(disk, processes, {}, {k_probe});
    CHECK(found.driver->version->str() == "580.65.06"); // the kernel's is what runs
    REQUIRE(found.notes.size() == 2);
    CHECK(found.notes[0].find("580.105.08") != std::string::npos);
    CHECK(found.notes[0].find("reboot") != std::string::npos);
}

TEST_CASE("without any sign of a driver no child is started, and the reason is reported") {
    FakeDisk disk;
    disk.file("/sys/bus/pci/devices/0000:00:02.0/uevent", "PCI_CLASS=30000\nPCI_ID=8086:5916\n");
    FakeProcesses processes;
    const auto found = find_driver(disk, processes, {}, {k_probe});
    CHECK_FALSE(found.driver);
    CHECK(found.driver_absent.find("no nvidia kernel module") != std::string::npos);
    CHECK(found.gpus.empty());
    CHECK(found.gpus_absent.find("1 devices") != std::string::npos);
    CHECK(processes.started.empty());
}

TEST_CASE("one name, two chips: without a driver, the PCI id shows which GTX 860M it is") {
    FakeProcesses processes;
    FakeDisk maxwell;
    add_card(maxwell, "0000:01:00.0", "1392", "nouveau", "30200");
    const auto newer = find_driver(maxwell, processes, {}, {k_probe});
    REQUIRE(newer.gpus.size() == 1);
    CHECK(newer.gpus[0].compute_capability == ComputeCapability{5, 0});
    CHECK(newer.gpus[0].pci_device == "0x1392");
    CHECK(newer.gpus[0].name == "GeForce GTX 860M");
    CHECK(newer.driver_absent.find("the GPU uses nouveau") != std::string::npos);
    CHECK(newer.driver_absent.find("up to 580") != std::string::npos);
    FakeDisk kepler;
    add_card(kepler, "0000:01:00.0", "119A");
    const auto older = find_driver(kepler, processes, {}, {k_probe});
    REQUIRE(older.gpus.size() == 1);
    CHECK(older.gpus[0].compute_capability == ComputeCapability{3, 0});
    CHECK(older.driver_absent.find("sm_30") != std::string::npos);
    CHECK(older.driver_absent.find("up to 470") != std::string::npos);
    CHECK(older.gpus[0].last_driver_branch->str() == "470");
}

TEST_CASE("a card's sound device and other vendors' cards are no GPUs of ours") {
    FakeDisk disk;
    add_card(disk, "0000:01:00.1", "0fbc", "snd_hda_intel", "40300");
    disk.file("/sys/bus/pci/devices/0000:02:00.0/uevent", "PCI_CLASS=30000\nPCI_ID=1002:73BF\n");
    FakeProcesses processes;
    CHECK(find_driver(disk, processes, {}, {}).gpus.empty());
}

TEST_CASE("a card whose id is in no table is there all the same, its capability unknown") {
    FakeDisk disk;
    add_card(disk, "0000:01:00.0", "fffe");
    FakeProcesses processes;
    const auto found = find_driver(disk, processes, {}, {});
    REQUIRE(found.gpus.size() == 1);
    CHECK_FALSE(found.gpus[0].compute_capability);
    CHECK(found.gpus[0].source.find("in no table") != std::string::npos);
}

TEST_CASE("two GPUs with a driver and no NVML are known from /proc and the bus") {
    auto disk = with_module(k_470);
    add_card(disk, "0000:01:00.0", "2204", "nvidia");
    add_card(disk, "0000:02:00.0", "1b06", "nvidia");
    disk.file("/proc/driver/nvidia/gpus/0000:01:00.0/information",
              "Model: \t\t NVIDIA GeForce RTX 3090\nGPU UUID: \t GPU-aaaa\n");
    disk.file(
        "/proc/driver/nvidia/gpus/0000:02:00.0/information",
        "Model: \t\t NVIDIA GeForce GTX 1080 Ti\nGPU UUID: \t GPU-\?\?\?\?\?\?\?\?-\?\?\?\?\n");
    FakeProcesses processes;
    const auto found = find_driver(disk, processes, {}, {});
    REQUIRE(found.gpus.size() == 2);
    CHECK(found.gpus[0].name == "NVIDIA GeForce RTX 3090");
    CHECK(found.gpus[0].uuid == "GPU-aaaa");
    CHECK(found.gpus[0].compute_capability == ComputeCapability{8, 6});
    CHECK(found.gpus[1].index == 1);
    CHECK(found.gpus[1].compute_capability == ComputeCapability{6, 1});
    CHECK(found.gpus[1].uuid.empty());
}

TEST_CASE("on WSL the driver is known through NVML alone") {
    FakeDisk disk;
    disk.file("/dev/dxg");
    FakeProcesses processes;
    processes.answer(k_ask, R"({"driver_version": "551.61", "cuda_driver_version": "12.4",
                               "gpus": [{"name": "NVIDIA GeForce RTX 4070", "cc": "8.9"}]})");
    const auto found = find_driver(disk, processes, {}, {k_probe});
    REQUIRE(found.driver);
    CHECK(found.driver->version->str() == "551.61");
    CHECK(found.driver->cuda->str() == "12.4");
    CHECK_FALSE(found.driver->kind);
    CHECK(found.gpus.size() == 1);
    CHECK(found.notes.empty());
}

TEST_CASE("WSL without NVIDIA's driver says that its driver gives no answer") {
    FakeDisk disk;
    disk.file("/dev/dxg");
    FakeProcesses processes;
    processes.answer(k_ask, R"({"driver_version": null, "errors": ["NVML is not here: x"]})");
    const auto found = find_driver(disk, processes, {}, {k_probe});
    CHECK_FALSE(found.driver);
    CHECK(found.driver_absent.find("NVML is not here") != std::string::npos);
}

TEST_CASE("nvidia-smi is asked last, where neither NVML nor the table knows") {
    auto disk =
        with_module("NVRM version: NVIDIA UNIX x86_64 Kernel Module  100.14  Thu May 11 2023\n");
    disk.program("/usr/bin/nvidia-smi");
    FakeProcesses processes;
    processes.answer("/usr/bin/nvidia-smi",
                     "| NVIDIA-SMI 100.14  KMD Version: 100.14  CUDA UMD Version: 12.9 |");
    const auto found = find_driver(disk, processes, {}, {k_probe});
    REQUIRE(found.driver);
    CHECK(found.driver->cuda->str() == "12.9");
    CHECK_FALSE(found.driver->derived);
    CHECK(found.driver->source.starts_with("nvidia-smi"));
}

TEST_CASE("a driver whose CUDA is unknown is reported, without its CUDA") {
    auto disk =
        with_module("NVRM version: NVIDIA UNIX x86_64 Kernel Module  100.14  Thu May 11 2023\n");
    FakeProcesses processes;
    const auto found = find_driver(disk, processes, {}, {});
    REQUIRE(found.driver);
    CHECK_FALSE(found.driver->cuda);
    CHECK(found.driver->source.find("in no table") != std::string::npos);
}

TEST_CASE("a container that sees the host's module but not its devices says so") {
    FakeDisk disk;
    disk.file("/proc/driver/nvidia/version", k_470);
    FakeProcesses processes;
    const auto found = find_driver(disk, processes, {}, {});
    REQUIRE(found.driver);
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0].find("no GPU's device file") != std::string::npos);
    // Root's libcuda makes this one wherever it is called.
    disk.file("/dev/nvidiactl");
    CHECK(find_driver(disk, processes, {}, {}).notes == found.notes);
    disk.file("/dev/nvidia3");
    CHECK(find_driver(disk, processes, {}, {}).notes.empty());
}

TEST_CASE("the node that libcuda makes for root, without a GPU, is no driver") {
    FakeDisk disk;
    disk.file("/dev/nvidiactl").file("/dev/nvidia-uvm").directory("/dev/nvidia-caps");
    FakeProcesses processes;
    const auto found = find_driver(disk, processes, {}, {k_probe});
    CHECK_FALSE(has_gpu_device(disk));
    CHECK_FALSE(found.driver);
    CHECK(found.driver_absent.find("no nvidia kernel module") != std::string::npos);
    CHECK(processes.started.empty());
}

TEST_CASE("a GPU's device file is one with a number, WSL's or a Jetson's") {
    for (const char* device : {"/dev/nvidia0", "/dev/nvidia15", "/dev/dxg", "/dev/nvhost-gpu"}) {
        INFO(device);
        FakeDisk disk;
        disk.file(device);
        CHECK(has_gpu_device(disk));
    }
}

TEST_CASE("a Jetson's driver is its board support package's, of unknown CUDA") {
    FakeDisk disk;
    disk.file("/etc/nv_tegra_release",
              "# R32 (release), REVISION: 7.1, GCID: 29818004, BOARD: t210ref, EABI: aarch64\n");
    FakeProcesses processes;
    const auto found = find_driver(disk, processes, {}, {k_probe});
    REQUIRE(found.driver);
    CHECK_FALSE(found.driver->cuda);
    CHECK(found.driver->source == "/etc/nv_tegra_release: # R32 (release), REVISION: 7.1");
    CHECK(found.gpus_absent.find("Jetson") != std::string::npos);
}

} // namespace
} // namespace cudaenv::host
