// NVIDIA GPUs without asking the driver's library: from /proc/driver/nvidia/gpus and the PCI bus,
// so that a machine with a card and no driver still knows its card.
#pragma once

#include "host/file_system.hpp"
#include "solver/facts/host.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

// A device's line pairs under /sys/bus/pci/devices/*/uevent.
struct PciDevice {
    std::uint16_t vendor = 0;
    std::uint16_t device = 0;
    std::uint32_t device_class = 0; // 0x030000
    std::string driver;             // bound to it; empty = none
};
std::optional<PciDevice> parse_pci_uevent(std::string_view text);

struct BusGpus {
    std::vector<facts::Gpu> gpus; // in bus order, as the driver numbers them
    std::string absent;           // why no GPU was found
    bool nouveau = false;         // some card is driven by nouveau
};
BusGpus find_gpus_on_bus(FileSystem& files);

// Adds what the table knows of a GPU's capability: the newest driver branch that serves it.
void add_driver_branch(facts::Gpu& gpu);

} // namespace cudaenv::host
