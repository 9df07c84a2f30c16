// GPU models by PCI device id and by marketing name.
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/table.hpp"

#include <charconv>
#include <stdexcept>
#include <unordered_map>

namespace cudaenv::knowledge {

namespace {

struct Gpus {
    std::unordered_map<std::uint16_t, GpuModel> by_device;
    // By folded name; none: two compute capabilities bear it.
    std::unordered_map<std::string, std::optional<GpuModel>> by_name;
};

// "NVIDIA Tesla P100-PCIE-16GB" -> "tesla p100 pcie 16gb"
std::string folded(std::string_view name) {
    std::string text;
    for (const char c : name) {
        const char plain = c == '-' || c == '\t' ? ' ' : c;
        if (plain == ' ' && (text.empty() || text.back() == ' ')) {
            continue;
        }
        text.push_back(plain >= 'A' && plain <= 'Z' ? static_cast<char>(plain - 'A' + 'a') : plain);
    }
    if (text.ends_with(' ')) {
        text.pop_back();
    }
    constexpr std::string_view vendor = "nvidia ";
    return text.starts_with(vendor) ? text.substr(vendor.size()) : text;
}

std::uint16_t device_id(const std::string& text) {
    std::uint16_t id = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), id, 16);
    if (!text.starts_with("0x") || error != std::errc() || end != text.data() + text.size()) {
        throw std::logic_error("data/gpus.json: \"" + text + "\" is not a device id");
    }
    return id;
}

bool lists_chip(std::string_view chips, std::string_view chip) {
    while (true) {
        const auto slash = chips.find('/');
        if (chips.substr(0, slash) == chip) {
            return true;
        }
        if (slash == std::string_view::npos) {
            return false;
        }
        chips.remove_prefix(slash + 1);
    }
}

void add_name(Gpus& gpus, const GpuModel& model) {
    const auto [found, fresh] = gpus.by_name.try_emplace(folded(model.name), model);
    if (fresh || !found->second) {
        return;
    }
    GpuModel& held = *found->second;
    if (held.compute_capability != model.compute_capability) {
        found->second.reset();
        return;
    }
    if (held.chip.empty()) {
        held.chip = model.chip;
    } else if (!model.chip.empty() && !lists_chip(held.chip, model.chip)) {
        held.chip += '/' + model.chip;
    }
}

Gpus read_gpus() {
    Gpus gpus;
    read_table("gpus", [&](std::string_view section, const Row& row) {
        const GpuModel model{row.text("name"), row.find("chip").value_or(""),
                             row.capability("compute_capability"), row.source()};
        if (section == "devices") {
            gpus.by_device.emplace(device_id(row.text("device")), model);
        }
        add_name(gpus, model);
    });
    return gpus;
}

const Gpus& gpus() {
    static const Gpus table = read_gpus();
    return table;
}

} // namespace

std::optional<GpuModel> gpu_by_pci_device(std::uint16_t device_id) {
    const auto found = gpus().by_device.find(device_id);
    return found != gpus().by_device.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<GpuModel> gpu_by_name(std::string_view name) {
    const auto found = gpus().by_name.find(folded(name));
    return found != gpus().by_name.end() ? found->second : std::nullopt;
}

} // namespace cudaenv::knowledge
