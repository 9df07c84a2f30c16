#include "kernels/reporter.hpp"
#include "kernels/rungs/first_rungs.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace cudaenv::kernels {

namespace {

// CUdevice_attribute of cuda.h.
constexpr int k_compute_mode = 20;
constexpr int k_capability_major = 75;
constexpr int k_capability_minor = 76;

std::string name_of(const DriverApi& api, CuDevice device) {
    std::array<char, 256> text{};
    if (api.device_get_name == nullptr ||
        api.device_get_name(text.data(), static_cast<int>(text.size()), device) != 0) {
        return {};
    }
    return {text.data(), ::strnlen(text.data(), text.size())};
}

// As nvidia-smi and CUDA_VISIBLE_DEVICES write it; empty where the driver gives none.
std::string uuid_of(const DriverApi& api, CuDevice device, std::string_view prefix) {
    std::array<std::uint8_t, 16> bytes{};
    if (api.device_get_uuid == nullptr || api.device_get_uuid(bytes.data(), device) != 0 ||
        bytes == decltype(bytes){}) {
        return {};
    }
    std::string text(prefix);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        constexpr std::string_view k_digits = "0123456789abcdef";
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text += '-';
        }
        text += k_digits[bytes[i] >> 4U];
        text += k_digits[bytes[i] & 0xFU];
    }
    return text;
}

// Besides telling it: what NVML says of it, and whether it is then to be left alone.
void describe(Rung& rung, const DriverApi& api, CuDevice device, OccupancySource& nvml,
              GpuUnderTest& gpu) {
    const auto name = name_of(api, device);
    // An instance has no attribute of its own in this API; its name has been "NVIDIA A100-SXM4-40GB
    // MIG 1g.5gb" since there are any (450).
    const bool mig = name.find(" MIG ") != std::string::npos;
    rung.set("mig", mig);
    if (!name.empty()) {
        rung.set("name", name);
    }
    // Without the newer call it is the whole GPU's, of which an instance is a part.
    const bool is_own = !mig || api.tells_instances;
    const auto uuid = uuid_of(api, device, mig && is_own ? "MIG-" : "GPU-");
    if (!uuid.empty()) {
        rung.set("uuid", uuid);
    }
    std::size_t memory = 0;
    if (api.device_total_mem != nullptr && api.device_total_mem(&memory, device) == 0 &&
        memory > 0) {
        rung.set("memory_total", memory);
    }
    int mode = -1;
    if (api.device_get_attribute(&mode, k_compute_mode, device) == 0 && mode >= 0 && mode <= 3) {
        rung.set("compute_mode", mode);
    }
    const auto occupancy = is_own ? nvml.of(uuid) : Occupancy{};
    if (occupancy.memory_free) {
        rung.set("memory_free", *occupancy.memory_free);
    }
    gpu.is_exclusive = is_exclusive(mode);
    gpu.left_alone = left_alone(mode, occupancy, is_mps_here());
    gpu.in_use = in_use(occupancy);
    if (!gpu.in_use.empty()) {
        rung.set_reason(facts::RungReason::Busy);
        rung.set("message", "busy: " + gpu.in_use);
    }
    if (gpu.left_alone) {
        gpu.left_alone->error_name = driver_error_name(api, gpu.left_alone->error);
    }
}

} // namespace

std::optional<GpuUnderTest> climb_gpu(const DriverApi& api, int ordinal, OccupancySource& nvml) {
    Rung rung(ProbeStep::Gpu, ordinal);
    if (api.device_get_attribute == nullptr) {
        rung.refused("dlsym", api.path + " has no cuDeviceGetAttribute");
        return std::nullopt;
    }
    CuDevice device = 0;
    if (const int error = api.device_get(&device, ordinal)) {
        rung.failed("cuDeviceGet", error, driver_error_name(api, error));
        return std::nullopt;
    }
    GpuUnderTest gpu;
    gpu.ordinal = ordinal;
    gpu.driver = &api;
    describe(rung, api, device, nvml, gpu);
    for (const auto& [attribute, number] : {std::pair(k_capability_major, &gpu.capability.major),
                                            std::pair(k_capability_minor, &gpu.capability.minor)}) {
        if (const int error = api.device_get_attribute(number, attribute, device)) {
            rung.failed("cuDeviceGetAttribute", error, driver_error_name(api, error));
            return std::nullopt;
        }
    }
    const auto [major, minor] = gpu.capability;
    if (major < 1 || major > 99 || minor < 0 || minor > 9) {
        rung.wrong("the driver gives a compute capability of " + gpu.capability.str());
        return std::nullopt;
    }
    rung.set("cc", gpu.capability.str());
    rung.ok();
    return gpu;
}

} // namespace cudaenv::kernels
