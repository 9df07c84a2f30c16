#include "host/driver.hpp"
#include "host/gpus.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::host {
namespace {

TEST_CASE("the proprietary kernel module's version file is read") {
    const auto module = parse_proc_version(
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.199.02  Thu May 11 11:46:56 UTC 2023\n"
        "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
    REQUIRE(module.version);
    CHECK(module.version->str() == "470.199.02");
    CHECK(module.kind == facts::DriverKind::Proprietary);
}

TEST_CASE("the open kernel module's version file is read") {
    const auto module = parse_proc_version(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  "
        "(dvs-builder@U22-I3-AE18-23-3)  Sun Jul 27 07:11:48 UTC 2025\n"
        "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n");
    REQUIRE(module.version);
    CHECK(module.version->str() == "580.65.06");
    CHECK(module.kind == facts::DriverKind::Open);
}

TEST_CASE("an aarch64 module and a two-part version are read too") {
    const auto arm = parse_proc_version(
        "NVRM version: NVIDIA UNIX aarch64 Kernel Module  390.157  Wed Oct 12 09:19:07 UTC 2022\n");
    REQUIRE(arm.version);
    CHECK(arm.version->str() == "390.157");
}

TEST_CASE("a version file without a version gives none, and gcc's is never taken for it") {
    for (const auto* text :
         {"", "\n", "NVRM version: \n", "NVRM version: NVIDIA UNIX x86_64 Kernel Module\n",
          "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n", "470.199.02"}) {
        INFO(text);
        CHECK_FALSE(parse_proc_version(text).version);
    }
}

TEST_CASE("the module's sysfs version is the version alone") {
    CHECK(parse_module_version("535.183.01\n")->str() == "535.183.01");
    CHECK_FALSE(parse_module_version("\n"));
    CHECK_FALSE(parse_module_version("N/A"));
    CHECK_FALSE(parse_module_version("1"));
}

TEST_CASE("a GPU's information file gives model, uuid and place") {
    const auto information =
        parse_gpu_information("Model: \t\t NVIDIA GeForce RTX 3090\n"
                              "IRQ:   \t\t 148\n"
                              "GPU UUID: \t GPU-01234567-89ab-cdef-0123-456789abcdef\n"
                              "Video BIOS: \t 94.02.26.48.9e\n"
                              "Bus Type: \t PCIe\n"
                              "DMA Size: \t 47 bits\n"
                              "DMA Mask: \t 0x7fffffffffff\n"
                              "Bus Location: \t 0000:01:00.0\n"
                              "Device Minor: \t 0\n"
                              "GPU Excluded:\t No\n");
    CHECK(information.model == "NVIDIA GeForce RTX 3090");
    CHECK(information.uuid == "GPU-01234567-89ab-cdef-0123-456789abcdef");
    CHECK(information.bus_location == "0000:01:00.0");
}

TEST_CASE("a uuid or model that the driver keeps to itself is empty") {
    const auto information =
        parse_gpu_information("Model: \t\t Unknown\nGPU UUID: \t GPU-\?\?\?\?\?\?\?\?-\?\?\?\?\n");
    CHECK(information.uuid.empty());
    CHECK(information.model.empty());
}

TEST_CASE("nvidia-smi's header before driver 610 is read") {
    const auto header = parse_nvidia_smi(
        "Thu Nov 20 09:00:00 2025       \n"
        "+-----------------------------------------------------------------------------+\n"
        "| NVIDIA-SMI 470.199.02   Driver Version: 470.199.02   CUDA Version: 11.4     |\n"
        "|-------------------------------+----------------------+----------------------+\n");
    CHECK(header.driver->str() == "470.199.02");
    CHECK(header.cuda->str() == "11.4");
}

TEST_CASE("nvidia-smi's header from driver 610 on is read") {
    const auto header = parse_nvidia_smi(
        "| NVIDIA-SMI 610.57.04         KMD Version: 610.57.04    CUDA UMD Version: 13.3     |\n");
    CHECK(header.driver->str() == "610.57.04");
    CHECK(header.cuda->str() == "13.3");
}

TEST_CASE("nvidia-smi's mixed wording is read, and its failures give nothing") {
    const auto mixed =
        parse_nvidia_smi("| NVIDIA-SMI 615.20   Driver Version: 615.20   CUDA UMD Version: 13.4 |");
    CHECK(mixed.driver->str() == "615.20");
    CHECK(mixed.cuda->str() == "13.4");
    const auto unknown =
        parse_nvidia_smi("| NVIDIA-SMI 390.157   Driver Version: 390.157   CUDA Version: N/A |");
    CHECK(unknown.driver->str() == "390.157");
    CHECK_FALSE(unknown.cuda);
    const auto failed = parse_nvidia_smi(
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n");
    CHECK_FALSE(failed.driver);
    CHECK_FALSE(failed.cuda);
}

TEST_CASE("a PCI device's uevent is read") {
    const auto device = parse_pci_uevent("DRIVER=nouveau\nPCI_CLASS=30200\nPCI_ID=10DE:1392\n"
                                         "PCI_SUBSYS_ID=1558:7481\nPCI_SLOT_NAME=0000:01:00.0\n");
    REQUIRE(device);
    CHECK(device->vendor == 0x10de);
    CHECK(device->device == 0x1392);
    CHECK(device->device_class == 0x030200);
    CHECK(device->driver == "nouveau");
    CHECK_FALSE(parse_pci_uevent("PCI_CLASS=30000\n"));
    CHECK_FALSE(parse_pci_uevent("PCI_ID=10DE\n"));
    CHECK_FALSE(parse_pci_uevent("PCI_ID=10DE:xyz\n"));
}

TEST_CASE("the probe's line is read, two GPUs and MIG among it") {
    const auto facts = parse_probe_facts(
        R"({"driver_version": "580.65.06", "cuda_driver_version": "13.0", "errors": [], "gpus": [
            {"index": 0, "name": "NVIDIA H200", "uuid": "GPU-1", "cc": "9.0",
             "pci_device_id": "0x2335", "memory": 150754820096, "mig": true},
            {"index": 1, "name": "NVIDIA GeForce GTX 1080 Ti", "uuid": "GPU-2", "cc": "6.1",
             "pci_device_id": "0x1b06", "memory": null, "mig": false}]})");
    REQUIRE(facts);
    CHECK(facts->driver_version->str() == "580.65.06");
    CHECK(facts->cuda->str() == "13.0");
    REQUIRE(facts->gpus.size() == 2);
    CHECK(facts->gpus[0].mig);
    CHECK(facts->gpus[0].memory_bytes == 150754820096ULL);
    CHECK(facts->gpus[1].compute_capability == ComputeCapability{6, 1});
    CHECK_FALSE(facts->gpus[1].memory_bytes);
    CHECK(facts->gpus[1].source == "NVML");
}

TEST_CASE("a zero in the probe's answer never becomes version 0.0") {
    const auto facts = parse_probe_facts(
        R"({"driver_version": "0", "cuda_driver_version": "0.0", "gpus": [{"cc": "0.0"}]})");
    REQUIRE(facts);
    CHECK_FALSE(facts->driver_version);
    CHECK_FALSE(facts->cuda);
    CHECK_FALSE(facts->gpus[0].compute_capability);
    CHECK(facts->errors.size() == 3);
}

TEST_CASE("what is no answer of the probe is an error") {
    for (const auto* text : {"", "null", "[]", "{", "Segmentation fault"}) {
        CHECK_FALSE(parse_probe_facts(text));
    }
}

} // namespace
} // namespace cudaenv::host
