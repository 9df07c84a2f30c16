#include "base/driver_file.hpp"
#include "kernels/driver_api.hpp"
#include "kernels/reporter.hpp"
#include "kernels/rungs/gpu_work.hpp"
#include "kernels/rungs/rungs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace cudaenv::kernels {

namespace {

// More than any machine has.
constexpr int k_most_devices = 256;

// The first of `files` that loads. No stop and no `handle`: no file exists.
MaybeStop load_runtime_api(const std::vector<std::string>& files, RuntimeApi& api) {
    auto library = load_first(files);
    if (library.handle == nullptr) {
        api.path = std::move(library.path);
        return library.refusal;
    }
    api.handle = library.handle;
    api.path = std::move(library.path);
    find_function(api.handle, "cudaDriverGetVersion", api.driver_get_version);
    find_function(api.handle, "cudaGetLastError", api.get_last_error);
    find_function(api.handle, "cudaGetErrorName", api.get_error_name);
    return NeededFunctions(api.handle, api.path)
        .find("cudaRuntimeGetVersion", api.runtime_get_version)
        .find("cudaGetDeviceCount", api.get_device_count)
        .find("cudaSetDevice", api.set_device)
        .find("cudaMalloc", api.allocate)
        .find("cudaFree", api.free)
        .find("cudaMemcpy", api.copy)
        .find("cudaDeviceSynchronize", api.synchronize)
        .missing();
}

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

constexpr std::size_t k_words = std::size_t{1} << 19U; // 2 MiB

MaybeStop there_and_back(DeviceBuffer& buffer) {
    std::vector<std::uint32_t> there(k_words);
    std::uint32_t word = 1;
    std::generate(there.begin(), there.end(), [&] { return word = word * 2654435761U + 40503U; });
    std::vector<std::uint32_t> back(k_words);
    CUDAENV_STOP_IF(buffer.to_device(there.data(), k_words * sizeof(word)));
    CUDAENV_STOP_IF(buffer.give(back));
    const auto differs = std::ranges::mismatch(there, back).in1;
    return differs == there.end()
               ? std::nullopt
               : MaybeStop(wrong_result("word " + std::to_string(differs - there.begin()) +
                                        " of the data copied to the GPU came back changed"));
}

} // namespace

bool climb_library(DriverApi& api) {
    Rung rung(ProbeStep::Library, std::nullopt);
    const auto stop = load_driver_api(api);
    if (!api.path.empty()) {
        rung.set_file(api.path);
    }
    if (!api.found_by.empty()) {
        rung.set("found_by", api.found_by);
    }
    if (!stop && !api.links_to_nothing.empty()) {
        rung.set_reason(facts::RungReason::BrokenLink);
        rung.set("message", api.links_to_nothing.front() + " leads to nothing: passed over");
    }
    if (const auto version = driver_of_file(api.path)) {
        rung.set("version", version->str());
    }
    end_rung(rung, stop);
    return !stop;
}

std::optional<DriverAnswer> climb_driver(const DriverApi& api) {
    Rung rung(ProbeStep::Driver, std::nullopt);
    const int initialised = api.init(0);
    DriverAnswer answer;
    // Drivers report their version without cuInit too, which matters most where cuInit fails.
    int number = 0;
    if (api.driver_get_version != nullptr && api.driver_get_version(&number) == 0) {
        answer.cuda = cuda_of_number(number);
    }
    if (answer.cuda) {
        rung.set("cuda", answer.cuda->str());
    }
    if (initialised != 0) {
        rung.failed("cuInit", initialised, driver_error_name(api, initialised));
        return std::nullopt;
    }
    if (api.device_get_count == nullptr || api.device_get == nullptr) {
        end_rung(rung, lacks_function("cuDeviceGetCount", api.path));
        return std::nullopt;
    }
    int count = -1; // a count that was never written is not a count
    if (const int error = api.device_get_count(&count)) {
        rung.failed("cuDeviceGetCount", error, driver_error_name(api, error));
        return std::nullopt;
    }
    if (count < 0 || count > k_most_devices) {
        rung.wrong("the driver counts " + std::to_string(count) + " devices");
        return std::nullopt;
    }
    answer.devices = count;
    rung.set("devices", count);
    rung.ok();
    return answer;
}

RuntimeFound climb_runtime(const std::vector<std::string>& files, const DriverApi& driver,
                           RuntimeApi& api) {
    Rung rung(ProbeStep::Runtime, std::nullopt);
    if (const auto stop = load_runtime_api(files, api)) {
        if (!api.path.empty()) {
            rung.set_file(api.path);
        }
        end_rung(rung, stop);
        return RuntimeFound::Fails;
    }
    if (api.handle == nullptr) {
        rung.skipped("there is no libcudart; the next rungs allocate through the driver API");
        return RuntimeFound::Absent;
    }
    rung.set_file(api.path);
    const auto failed = [&](const char* call, int error) {
        rung.failed(call, error, words_of(api.get_error_name, error));
        return RuntimeFound::Fails;
    };
    if (const int error = api.runtime_get_version(&api.version)) {
        return failed("cudaRuntimeGetVersion", error);
    }
    if (const auto version = cuda_of_number(api.version)) {
        rung.set("version", version->str());
    }
    // Which driver it sees, which need not be the one that was opened: a stub, or one of
    // cuda-compat.
    int driver_version = 0;
    if (api.driver_get_version != nullptr && api.driver_get_version(&driver_version) == 0) {
        if (const auto cuda = cuda_of_number(driver_version)) {
            rung.set("cuda", cuda->str());
        }
    }
    int devices = -1;
    if (const int error = api.get_device_count(&devices)) {
        return failed("cudaGetDeviceCount", error);
    }
    if (devices >= 0) {
        rung.set("devices", devices);
    }
    if (driver.found_by != "loader") {
        rung.set("message", "it used the driver's library that the probe had opened; "
                            "the loader alone does not find libcuda.so.1");
    }
    rung.ok();
    return RuntimeFound::Answers;
}

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

template <>
bool climb_on_gpu<ProbeStep::Memory>(const GpuUnderTest& gpu, CurrentGpu& current) {
    Rung rung(ProbeStep::Memory, gpu.ordinal);
    if (gpu.left_alone) {
        end_rung(rung, gpu.left_alone);
        return false;
    }
    DeviceBuffer buffer(gpu);
    auto stop = current.make_current();
    if (!stop) {
        // Runtimes before 12.0 make their context here and not before.
        stop = buffer.allocate(k_words * sizeof(std::uint32_t));
    }
    std::size_t free = 0;
    std::size_t total = 0;
    if (gpu.driver->memory_get_info != nullptr && gpu.driver->memory_get_info(&free, &total) == 0 &&
        total > 0) {
        rung.set("memory_free", free);
        rung.set("memory_total", total);
    }
    if (!stop) {
        stop = there_and_back(buffer);
    }
    end_rung(rung, stop);
    return !stop;
}

} // namespace cudaenv::kernels
