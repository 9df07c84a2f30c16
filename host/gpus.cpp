#include "host/gpus.hpp"

#include "base/text.hpp"
#include "host/driver.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <charconv>
#include <map>

namespace cudaenv::host {

namespace {

constexpr const char* k_pci = "/sys/bus/pci/devices";
constexpr const char* k_proc_gpus = "/proc/driver/nvidia/gpus";
constexpr std::uint16_t k_nvidia = 0x10de;
// Base class 3 of the PCI specification, "display controller": VGA, 3D (data-center cards), other.
constexpr std::uint32_t k_display = 0x03;

template <typename T>
bool hexadecimal(std::string_view text, T& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string device_text(std::uint16_t device) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    std::string text = "0x";
    for (int shift = 12; shift >= 0; shift -= 4) {
        text += k_digits[static_cast<unsigned>(device >> static_cast<unsigned>(shift)) & 0xFU];
    }
    return text;
}

} // namespace

std::optional<PciDevice> parse_pci_uevent(std::string_view text) {
    PciDevice device;
    bool known = false;
    for (const auto& [key, value] : assignments_in(text)) {
        if (key == "PCI_ID") {
            const auto colon = value.find(':');
            known = colon != std::string_view::npos &&
                    hexadecimal(value.substr(0, colon), device.vendor) &&
                    hexadecimal(value.substr(colon + 1), device.device);
        } else if (key == "PCI_CLASS") {
            hexadecimal(value, device.device_class);
        } else if (key == "DRIVER") {
            device.driver = std::string(value);
        }
    }
    return known ? std::optional(device) : std::nullopt;
}

void add_driver_branch(facts::Gpu& gpu) {
    if (!gpu.compute_capability) {
        return;
    }
    if (const auto generation = knowledge::generation_of(*gpu.compute_capability)) {
        gpu.last_driver_branch = generation->last_driver_branch;
    }
}

BusGpus find_gpus_on_bus(FileSystem& files) {
    BusGpus found;
    // The driver's own words on its cards, by bus location; a card may be known to one side only.
    std::map<std::string, GpuInformation> informed;
    for (const auto& location : files.names_in(k_proc_gpus)) {
        if (const auto text =
                files.read_file(std::string(k_proc_gpus) + '/' + location + "/information")) {
            informed.emplace(location, parse_gpu_information(*text));
        }
    }
    const auto devices = files.list_directory(k_pci);
    std::size_t looked_at = 0;
    if (devices) {
        for (const auto& location : *devices) {
            const auto path = std::string(k_pci) + '/' + location;
            const auto text = files.read_file(path + "/uevent");
            const auto device = text ? parse_pci_uevent(*text) : std::nullopt;
            looked_at += device ? 1 : 0;
            if (!device || device->vendor != k_nvidia || device->device_class >> 16U != k_display) {
                continue;
            }
            found.nouveau = found.nouveau || device->driver == "nouveau";
            facts::Gpu gpu;
            gpu.pci_device = device_text(device->device);
            gpu.source = path;
            if (const auto model = knowledge::gpu_by_pci_device(device->device)) {
                gpu.name = model->name;
                gpu.compute_capability = model->compute_capability;
                gpu.source += " and the table of device ids";
            } else {
                gpu.source += "; its device id is in no table";
            }
            if (const auto proc = informed.find(location); proc != informed.end()) {
                gpu.name = proc->second.model.empty() ? gpu.name : proc->second.model;
                gpu.uuid = proc->second.uuid;
                gpu.source = std::string(k_proc_gpus) + '/' + location + " and " + gpu.source;
                informed.erase(proc);
            }
            found.gpus.push_back(std::move(gpu));
        }
    }
    for (const auto& [location, information] : informed) {
        facts::Gpu gpu;
        gpu.name = information.model;
        gpu.uuid = information.uuid;
        gpu.source = std::string(k_proc_gpus) + '/' + location;
        if (const auto model = knowledge::gpu_by_name(information.model)) {
            gpu.compute_capability = model->compute_capability;
            gpu.source += " and the table of names";
        }
        found.gpus.push_back(std::move(gpu));
    }
    for (std::size_t i = 0; i < found.gpus.size(); ++i) {
        found.gpus[i].index = static_cast<int>(i);
        add_driver_branch(found.gpus[i]);
    }
    if (found.gpus.empty()) {
        found.absent = devices ? "none of the " + std::to_string(looked_at) +
                                     " devices on the PCI bus is an NVIDIA GPU (" + k_pci + ")"
                               : "there is no PCI bus to read (" + std::string(k_pci) + ": " +
                                     reason_of(devices.error()) + ")";
    }
    return found;
}

} // namespace cudaenv::host
