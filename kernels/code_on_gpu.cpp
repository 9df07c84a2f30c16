#include "kernels/code_on_gpu.hpp"

#include "kernels/rungs/gpu_work.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#ifdef CUDAENV_FATBIN
// The file's bytes as they are. Uncompressed fatbins are read where they lie, aligned.
asm(".pushsection .rodata\n"
    ".balign 64\n"
    "cudaenv_fatbin:\n"
    ".incbin \"" CUDAENV_FATBIN "\"\n"
    ".popsection\n");
extern "C" const unsigned char cudaenv_fatbin[];
#endif

namespace cudaenv::kernels {

#ifdef CUDAENV_FATBIN

namespace {

MaybeStop run_check(LoadedCode& code, const KernelCheck& check, DeviceBuffer& in,
                    DeviceBuffer& out) {
    const auto bytes = [](const auto& words) { return words.size() * sizeof(words[0]); };
    std::vector<std::uint32_t> words(check.expected.size());
    CUDAENV_STOP_IF(in.to_device(check.input.data(), bytes(check.input)));
    CUDAENV_STOP_IF(out.to_device(words.data(), bytes(words)));
    auto count = static_cast<unsigned>(check.input.size());
    void* from = in.address();
    void* to = out.address();
    // A device pointer is as wide as ours.
    std::array<void*, 3> arguments = {&from, &to, &count};
    CUDAENV_STOP_IF(
        code.run(check.function, {check.grid_x, check.grid_y, check.block}, arguments, check.name));
    CUDAENV_STOP_IF(out.from_device(words.data(), bytes(words)));
    auto differs = difference(check, words);
    return differs.empty() ? std::nullopt : MaybeStop(wrong_result(std::move(differs)));
}

// "7.5,8.0,12.0", rising, as the build lists them.
std::vector<ComputeCapability> capabilities_of(std::string_view listed) {
    std::vector<ComputeCapability> capabilities;
    while (!listed.empty()) {
        const auto end = std::min(listed.find(','), listed.size());
        capabilities.push_back(*ComputeCapability::parse(listed.substr(0, end)));
        listed.remove_prefix(std::min(end + 1, listed.size()));
    }
    return capabilities;
}

} // namespace

MaybeStop lacks_launch(const DriverApi& driver) {
    for (const auto& [present, name] :
         {std::pair(driver.module_load_data_ex != nullptr, "cuModuleLoadDataEx"),
          std::pair(driver.module_get_function != nullptr, "cuModuleGetFunction"),
          std::pair(driver.launch_kernel != nullptr, "cuLaunchKernel"),
          std::pair(driver.context_synchronize != nullptr, "cuCtxSynchronize")}) {
        if (!present) {
            return lacks_function(name, driver.path);
        }
    }
    return std::nullopt;
}

LoadedCode::~LoadedCode() {
    if (m_module != nullptr && m_driver.module_unload != nullptr) {
        m_driver.module_unload(m_module); // refuses where the context broke: nothing to do
    }
}

MaybeStop LoadedCode::load(const void* image) {
    std::array<char, 4096> log{};
    // CU_JIT_ERROR_LOG_BUFFER, and its size, which is passed in the pointer's place.
    std::array<int, 2> options = {5, 6};
    std::array<void*, 2> values = {log.data(), nullptr};
    const std::uintptr_t room = log.size() - 1;
    std::memcpy(&values[1], &room, sizeof(room));
    const int error = m_driver.module_load_data_ex(
        &m_module, image, static_cast<unsigned>(options.size()), options.data(), values.data());
    if (error != 0) {
        m_module = nullptr;
        return driver_failed(m_driver, k_load_call, error, shortened(log.data()));
    }
    return std::nullopt;
}

MaybeStop LoadedCode::run(const std::string& function, const LaunchShape& shape,
                          std::span<void*> arguments, const std::string& what) {
    CuFunction found = nullptr;
    if (const int error = m_driver.module_get_function(&found, m_module, function.c_str())) {
        return driver_failed(m_driver, "cuModuleGetFunction", error, function);
    }
    if (const int error = m_driver.launch_kernel(found, shape.grid_x, shape.grid_y, 1, shape.block,
                                                 1, 1, 0, nullptr, arguments.data(), nullptr)) {
        return driver_failed(m_driver, "cuLaunchKernel", error, what);
    }
    if (const int error = m_driver.context_synchronize()) {
        return driver_failed(m_driver, "cuCtxSynchronize", error, what);
    }
    return std::nullopt;
}

MaybeStop run_checks(const GpuUnderTest& gpu, const void* image,
                     const std::vector<KernelCheck>& checks, std::vector<std::string>& passed) {
    CUDAENV_STOP_IF(lacks_launch(*gpu.driver));
    DeviceBuffer in(gpu);
    DeviceBuffer out(gpu);
    for (auto* buffer : {&in, &out}) {
        CUDAENV_STOP_IF(buffer->allocate(k_largest_check * sizeof(std::uint32_t)));
    }
    LoadedCode code(*gpu.driver);
    CUDAENV_STOP_IF(code.load(image));
    for (const auto& check : checks) {
        CUDAENV_STOP_IF(run_check(code, check, in, out));
        passed.push_back(check.name);
    }
    return std::nullopt;
}

#endif

const DeviceImage& device_image() {
#ifdef CUDAENV_FATBIN
    static const DeviceImage image = [] {
        DeviceImage built;
        built.fatbin = &cudaenv_fatbin[0];
        built.machine_code = capabilities_of(CUDAENV_MACHINE_CODE);
        built.ptx = built.machine_code.front(); // kernels/DeviceCode.cmake: of the lowest
        built.cuda = DottedVersion::of(CUDAENV_NVCC);
        return built;
    }();
#else
    static const DeviceImage image;
#endif
    return image;
}

std::optional<ComputeCapability>
machine_code_for(const std::vector<ComputeCapability>& machine_code, ComputeCapability gpu) {
    std::optional<ComputeCapability> newest;
    for (const auto built : machine_code) {
        if (built.major == gpu.major && built <= gpu && (!newest || built > *newest)) {
            newest = built;
        }
    }
    return newest;
}

} // namespace cudaenv::kernels
