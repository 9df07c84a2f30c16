#include "solver/knowledge/knowledge.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>

using namespace cudaenv;
using namespace cudaenv::knowledge;

TEST_CASE("GTX 860M is two chips: the PCI id decides, the name alone does not") {
    const auto maxwell = gpu_by_pci_device(0x1392);
    REQUIRE(maxwell);
    CHECK(maxwell->name == "GeForce GTX 860M");
    CHECK(maxwell->chip == "GM107M");
    CHECK(maxwell->compute_capability == ComputeCapability{5, 0});
    const auto kepler = gpu_by_pci_device(0x119a);
    REQUIRE(kepler);
    CHECK(kepler->name == "GeForce GTX 860M");
    CHECK(kepler->compute_capability == ComputeCapability{3, 0});
    CHECK_FALSE(gpu_by_name("GeForce GTX 860M"));
    CHECK_FALSE(gpu_by_name("GeForce GT 730"));
}

TEST_CASE("MX150 is 6.1 on either of its chips") {
    for (const std::uint16_t device : std::array<std::uint16_t, 3>{0x1c90, 0x1d10, 0x1d12}) {
        CHECK(gpu_by_pci_device(device)->compute_capability == ComputeCapability{6, 1});
    }
    const auto named = gpu_by_name("NVIDIA GeForce MX150");
    REQUIRE(named);
    CHECK(named->compute_capability == ComputeCapability{6, 1});
    CHECK(named->chip == "GP107M/GP108M");
}

TEST_CASE("a name is found whatever its case, with or without NVIDIA, hyphens for spaces") {
    for (const char* name :
         {"NVIDIA GeForce GTX 1080 Ti", "GeForce GTX 1080 Ti", "geforce gtx 1080 TI"}) {
        CAPTURE(name);
        const auto found = gpu_by_name(name);
        REQUIRE(found);
        CHECK(found->compute_capability == ComputeCapability{6, 1});
    }
    CHECK(gpu_by_name("Tesla P100-PCIE-16GB")->compute_capability == ComputeCapability{6, 0});
    CHECK(gpu_by_name("NVIDIA H200")->compute_capability == ComputeCapability{9, 0});
    CHECK(gpu_by_name("GeForce RTX 5090")->compute_capability == ComputeCapability{12, 0});
    CHECK_FALSE(gpu_by_name("GeForce RTX 9999"));
    CHECK_FALSE(gpu_by_name(""));
    CHECK_FALSE(gpu_by_name("NVIDIA"));
}

TEST_CASE("an audio function or a switch of NVIDIA's is no GPU") {
    CHECK_FALSE(gpu_by_pci_device(0x0fbc));
    CHECK_FALSE(gpu_by_pci_device(0x1af1));
    CHECK_FALSE(gpu_by_pci_device(0x22a3));
    CHECK_FALSE(gpu_by_pci_device(0x0000));
}
