#include "solver/facts/visible.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <charconv>

namespace cudaenv::facts {

namespace {
const Gpu* meant_by(const std::vector<Gpu>& gpus, std::string_view device) {
    if (device.starts_with("GPU-") || device.starts_with("MIG-")) {
        const auto is_it = [&](const Gpu& gpu) { return gpu.uuid.starts_with(device); };
        const auto found = std::ranges::find_if(gpus, is_it);
        // A prefix of two is neither.
        return found != gpus.end() && std::none_of(found + 1, gpus.end(), is_it) ? &*found
                                                                                 : nullptr;
    }
    int index = -1;
    const auto [end, problem] =
        std::from_chars(device.data(), device.data() + device.size(), index);
    if (problem != std::errc() || end != device.data() + device.size()) {
        return nullptr;
    }
    return find_pointer_if(gpus, [&](const Gpu& gpu) { return gpu.index == index; });
}
} // namespace

Host narrowed_to_visible(Host host, std::string_view devices) {
    std::vector<Gpu> visible;
    for (const std::string_view device : split(devices, ',')) {
        const Gpu* const gpu = meant_by(host.gpus, trim(device));
        const bool again = gpu != nullptr && std::ranges::any_of(visible, [&](const Gpu& other) {
                               return other.index == gpu->index && other.uuid == gpu->uuid;
                           });
        if (gpu == nullptr) {
            break;
        }
        if (again) {
            visible.clear(); // the driver takes a device named twice for an error: none is seen
            break;
        }
        visible.push_back(*gpu);
    }
    if (visible.empty() && !host.gpus.empty()) {
        host.gpus_absent = "CUDA_VISIBLE_DEVICES=" + std::string(devices) + " shows none of them";
    }
    host.gpus = std::move(visible);
    return host;
}

} // namespace cudaenv::facts
