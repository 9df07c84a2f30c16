#include "kernels/rungs/gpu_work.hpp"
#include "kernels/rungs/library_numbers.hpp"
#include "kernels/rungs/nvrtc_library.hpp"
#include "kernels/rungs/rungs.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace cudaenv::kernels {
namespace {

constexpr int k_unsupported_ptx_version = 222; // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
constexpr unsigned k_threads = 128;
constexpr unsigned k_blocks = 8;
constexpr unsigned k_elements = k_threads * k_blocks;

// Neighbours meet in shared memory, so that a block that is not whole is seen.
constexpr const char* k_source = R"(
extern "C" __global__ void cudaenv_nvrtc(const float* in, float* out) {
    __shared__ float tile[128];
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[at];
    __syncthreads();
    out[at] = 3.0f * tile[threadIdx.x] + tile[(threadIdx.x + 1) % blockDim.x];
}
)";

std::vector<float> right_result(const std::vector<float>& in) {
    std::vector<float> out(in.size());
    for (std::size_t at = 0; at < in.size(); ++at) {
        const std::size_t block = at / k_threads * k_threads;
        out[at] = 3.0F * in[at] + in[block + (at - block + 1) % k_threads];
    }
    return out;
}

Stop driver_failed(const DriverApi& driver, std::string call, int error, std::string message = {}) {
    Stop stop;
    stop.call = std::move(call);
    stop.error = error;
    stop.error_name = driver_error_name(driver, error);
    stop.message = std::move(message);
    return stop;
}

class Module {
public:
    explicit Module(const DriverApi& driver) : m_driver(driver) {}
    ~Module() {
        if (m_module != nullptr && m_driver.module_unload != nullptr) {
            m_driver.module_unload(m_module);
        }
    }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    // `call`: what the failure is to be called. The message is the JIT compiler's.
    MaybeStop load(const std::string& image, const char* call) {
        std::array<char, 4096> log{};
        // CU_JIT_ERROR_LOG_BUFFER and its size, which is passed as the pointer itself.
        std::array<int, 2> options = {5, 6};
        std::array<void*, 2> values = {
            log.data(), reinterpret_cast<void*>(static_cast<std::uintptr_t>(log.size() - 1))};
        const int error = m_driver.module_load_data_ex(&m_module, image.c_str(), options.size(),
                                                       options.data(), values.data());
        if (error != 0) {
            m_module = nullptr;
            return driver_failed(m_driver, call, error, shortened(log.data()));
        }
        return std::nullopt;
    }

    MaybeStop run(void* in, void* out) {
        CuFunction function = nullptr;
        if (const int error = m_driver.module_get_function(&function, m_module, "cudaenv_nvrtc")) {
            return driver_failed(m_driver, "cuModuleGetFunction", error);
        }
        std::array<void*, 2> arguments = {&in, &out}; // a device pointer is as wide as ours
        if (const int error = m_driver.launch_kernel(function, k_blocks, 1, 1, k_threads, 1, 1, 0,
                                                     nullptr, arguments.data(), nullptr)) {
            return driver_failed(m_driver, "cuLaunchKernel", error);
        }
        if (const int error = m_driver.context_synchronize()) {
            return driver_failed(m_driver, "cuCtxSynchronize", error);
        }
        return std::nullopt;
    }

private:
    const DriverApi& m_driver;
    CuModule m_module = nullptr;
};

// Loads `image`, launches it and compares.
MaybeStop run_image(const GpuUnderTest& gpu, const std::string& image, const char* call) {
    const std::vector<float> in = small_integers(k_elements, 1);
    std::vector<float> out(k_elements, -1.0F);
    DeviceBuffer on_gpu_in(gpu);
    DeviceBuffer on_gpu_out(gpu);
    // Memory first: it is what makes the runtime create its context.
    MaybeStop stop = on_gpu_in.take(in);
    if (!stop) {
        stop = on_gpu_out.take(out);
    }
    Module module(*gpu.driver);
    if (!stop) {
        stop = module.load(image, call);
    }
    if (!stop) {
        stop = module.run(on_gpu_in.address(), on_gpu_out.address());
    }
    if (!stop) {
        stop = on_gpu_out.give(out);
    }
    if (stop) {
        return stop;
    }
    if (auto difference = first_difference(out, right_result(in), 0)) {
        return wrong_result(std::move(*difference));
    }
    return std::nullopt;
}

bool can_run_kernels(const DriverApi* driver) {
    return driver != nullptr && driver->module_load_data_ex != nullptr &&
           driver->module_get_function != nullptr && driver->launch_kernel != nullptr &&
           driver->context_synchronize != nullptr;
}

MaybeStop climb(Rung& rung, const GpuUnderTest& gpu, const NvrtcApi& api) {
    int major = 0;
    int minor = 0;
    if (api.version(&major, &minor) == 0) {
        rung.set("version", std::to_string(major) + '.' + std::to_string(minor));
    }
    NvrtcOutput output;
    if (MaybeStop stop = compile_for(api, k_source, gpu.capability, output)) {
        return stop;
    }
    if (const std::string isa = ptx_isa(output.ptx); !isa.empty()) {
        rung.set("isa", isa);
    }
    const bool has_machine_code = !output.machine_code.empty();
    rung.set("architecture",
             has_machine_code ? output.machine_code_architecture : output.ptx_architecture);

    CurrentGpu current(gpu);
    if (MaybeStop stop = current.make_current()) {
        return stop;
    }
    nlohmann::json checks = nlohmann::json::array();
    if (has_machine_code) {
        if (MaybeStop stop = run_image(gpu, output.machine_code, "cuModuleLoadDataEx")) {
            if (stop->kind == Stop::Kind::Wrong) {
                stop->message = "machine code of NVRTC: " + stop->message;
            }
            return stop;
        }
        checks.push_back("machine-code");
        rung.set("checks", checks);
    }
    MaybeStop stop = run_image(gpu, output.ptx, "cuModuleLoadDataEx (PTX)");
    if (!stop) {
        checks.push_back("ptx");
        rung.set("checks", checks);
        return stop;
    }
    const std::string log = stop->message.empty() ? std::string{} : ": " + stop->message;
    if (stop->kind == Stop::Kind::Wrong) {
        stop->message = "PTX of NVRTC" + log;
    } else if (has_machine_code) {
        stop->message = "machine code of the same source ran and was right" + log;
    } else if (stop->error == k_unsupported_ptx_version) {
        stop->message = "this NVRTC makes no machine code for " + gpu.capability.sm() + log;
    }
    return stop;
}

} // namespace

void climb_nvrtc(std::span<const GpuUnderTest> gpus, const std::vector<std::string>& files) {
    NvrtcApi api;
    for (const GpuUnderTest& gpu : gpus) {
        Rung rung("nvrtc", gpu.ordinal);
        if (api.path.empty()) {
            const LoadedLibrary library = load_or_end(rung, files, "NVRTC");
            if (library.handle == nullptr) {
                return;
            }
            rung.set("path", library.path);
            if (const MaybeStop stop = load_nvrtc_api(library.handle, library.path, api)) {
                end_rung(rung, stop);
                return;
            }
        }
        rung.set("path", api.path);
        if (!can_run_kernels(gpu.driver)) {
            rung.skipped("the driver's library lacks what launches a kernel");
            continue;
        }
        end_rung(rung, climb(rung, gpu, api));
    }
}

} // namespace cudaenv::kernels
