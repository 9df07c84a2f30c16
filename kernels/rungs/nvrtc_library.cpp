#include "kernels/rungs/nvrtc_library.hpp"

#include "kernels/code_on_gpu.hpp"
#include "kernels/rungs/library_numbers.hpp"
#include "kernels/rungs/rungs.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cudaenv::kernels {

namespace {

constexpr int k_invalid_option = 5; // NVRTC_ERROR_INVALID_OPTION

Stop failed(const NvrtcApi& api, std::string call, int error, std::string message = {}) {
    return {.call = std::move(call),
            .error = error,
            .error_name = words_of(api.get_error_string, error),
            .message = std::move(message)};
}

class Program {
public:
    explicit Program(const NvrtcApi& api) : m_api(api) {}
    ~Program() {
        if (m_program != nullptr) {
            m_api.destroy_program(&m_program);
        }
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    int create(const std::string& source) {
        return m_api.create_program(&m_program, source.c_str(), "cudaenv_probe.cu", 0, nullptr,
                                    nullptr);
    }
    int compile(const std::string& architecture) {
        const std::string option = "--gpu-architecture=" + architecture;
        const char* const options[] = {option.c_str()};
        return m_api.compile_program(m_program, 1, options);
    }
    std::string log() { return shortened(text(m_api.get_log_size, m_api.get_log)); }
    std::string ptx() { return text(m_api.get_ptx_size, m_api.get_ptx); }
    std::string machine_code() {
        return m_api.get_cubin_size == nullptr || m_api.get_cubin == nullptr
                   ? std::string{}
                   : read(m_api.get_cubin_size, m_api.get_cubin);
    }

private:
    using Size = int (*)(void*, std::size_t*);
    using Get = int (*)(void*, char*);

    std::string read(Size size, Get get) {
        std::size_t bytes = 0;
        if (size(m_program, &bytes) != 0 || bytes == 0) {
            return {};
        }
        std::string content(bytes, '\0');
        return get(m_program, content.data()) == 0 ? content : std::string{};
    }
    std::string text(Size size, Get get) {
        std::string content = read(size, get);
        while (!content.empty() && content.back() == '\0') { // counted in the size
            content.pop_back();
        }
        return content;
    }

    const NvrtcApi& m_api;
    void* m_program = nullptr;
};

// One compilation. `error` is NVRTC's, so that an unknown architecture can be distinguished from a
// failure.
MaybeStop compile(const NvrtcApi& api, const std::string& source, const std::string& architecture,
                  NvrtcOutput& output, int& error) {
    Program program(api);
    error = program.create(source);
    if (error != 0) {
        return failed(api, "nvrtcCreateProgram", error);
    }
    error = program.compile(architecture);
    if (error != 0) {
        return failed(api, "nvrtcCompileProgram", error, program.log());
    }
    output.machine_code = program.machine_code();
    output.ptx = program.ptx();
    return std::nullopt;
}

// From the newest; what it lists, else what may be.
std::vector<int> known_architectures(const NvrtcApi& api) {
    int count = 0;
    if (api.get_supported_archs_count != nullptr && api.get_supported_archs != nullptr &&
        api.get_supported_archs_count(&count) == 0 && count > 0 && count < 1000) {
        std::vector<int> listed(static_cast<std::size_t>(count), 0);
        if (api.get_supported_archs(listed.data()) == 0) {
            std::ranges::sort(listed, std::greater<>());
            return listed;
        }
    }
    const std::span<const int> guessed = architectures_of_old_nvrtc();
    return {guessed.begin(), guessed.end()};
}

MaybeStop compile_ptx_below(const NvrtcApi& api, const std::string& source,
                            ComputeCapability capability, NvrtcOutput& output) {
    std::vector<int> known = known_architectures(api);
    int error = k_invalid_option;
    std::string log;
    while (const std::optional<int> highest = highest_architecture_for(capability, known)) {
        const std::string architecture = "compute_" + std::to_string(*highest);
        MaybeStop stop = compile(api, source, architecture, output, error);
        if (!stop) {
            output.machine_code.clear();
            output.ptx_architecture = architecture;
            return std::nullopt;
        }
        if (error != k_invalid_option) {
            return stop;
        }
        log = stop->message;
        std::erase(known, *highest);
    }
    return failed(api, "nvrtcCompileProgram", error,
                  "it does not support " + architecture_name("sm_", capability) +
                      (log.empty() ? "" : ": " + log));
}

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

// Loads `image`, launches it and compares.
MaybeStop run_image(const GpuUnderTest& gpu, const std::string& image, const char* call) {
    const std::vector<float> in = small_integers(k_elements, 1);
    std::vector<float> out(k_elements, -1.0F);
    DeviceBuffer on_gpu_in(gpu);
    DeviceBuffer on_gpu_out(gpu);
    // Memory first: it is what makes the runtime create its context.
    CUDAENV_STOP_IF(on_gpu_in.take(in));
    CUDAENV_STOP_IF(on_gpu_out.take(out));
    LoadedCode code(*gpu.driver);
    if (MaybeStop stop = code.load(image.c_str())) {
        stop->call = call;
        return stop;
    }
    void* from = on_gpu_in.address();
    void* to = on_gpu_out.address();
    std::array<void*, 2> arguments = {&from, &to}; // a device pointer is as wide as ours
    CUDAENV_STOP_IF(code.run("cudaenv_nvrtc", {k_blocks, 1, k_threads}, arguments, {}));
    CUDAENV_STOP_IF(on_gpu_out.give(out));
    return compared("", out, right_result(in));
}

MaybeStop climb(Rung& rung, const GpuUnderTest& gpu, const NvrtcApi& api) {
    int major = 0;
    int minor = 0;
    if (api.version(&major, &minor) == 0) {
        rung.set("version", std::to_string(major) + '.' + std::to_string(minor));
    }
    NvrtcOutput output;
    CUDAENV_STOP_IF(compile_for(api, k_source, gpu.capability, output));
    if (const std::string isa = ptx_isa(output.ptx); !isa.empty()) {
        rung.set("isa", isa);
    }
    const bool has_machine_code = !output.machine_code.empty();
    rung.set("architecture",
             has_machine_code ? output.machine_code_architecture : output.ptx_architecture);

    CurrentGpu current(gpu);
    CUDAENV_STOP_IF(current.make_current());
    nlohmann::json checks = nlohmann::json::array();
    if (has_machine_code) {
        if (MaybeStop stop = run_image(gpu, output.machine_code, k_load_call)) {
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
    } else if (has_machine_code) { // which `checks` says, too
        stop->message = "machine code of the same source ran and was right" + log;
    } else if (stop->error == k_unsupported_ptx_version) {
        stop->message = "this NVRTC cannot compile machine code for " + gpu.capability.sm() + log;
    }
    return stop;
}

} // namespace

MaybeStop load_nvrtc_api(const LoadedLibrary& library, NvrtcApi& api) {
    void* const handle = library.handle;
    find_function(handle, "nvrtcGetCUBINSize", api.get_cubin_size);
    find_function(handle, "nvrtcGetCUBIN", api.get_cubin);
    find_function(handle, "nvrtcGetNumSupportedArchs", api.get_supported_archs_count);
    find_function(handle, "nvrtcGetSupportedArchs", api.get_supported_archs);
    return NeededFunctions(handle, library.path)
        .find("nvrtcVersion", api.version)
        .find("nvrtcGetErrorString", api.get_error_string)
        .find("nvrtcCreateProgram", api.create_program)
        .find("nvrtcCompileProgram", api.compile_program)
        .find("nvrtcGetPTXSize", api.get_ptx_size)
        .find("nvrtcGetPTX", api.get_ptx)
        .find("nvrtcGetProgramLogSize", api.get_log_size)
        .find("nvrtcGetProgramLog", api.get_log)
        .find("nvrtcDestroyProgram", api.destroy_program)
        .missing();
}

MaybeStop compile_for(const NvrtcApi& api, const std::string& source, ComputeCapability capability,
                      NvrtcOutput& output) {
    output = {};
    if (api.get_cubin == nullptr || api.get_cubin_size == nullptr) {
        return compile_ptx_below(api, source, capability, output);
    }
    const std::string architecture = architecture_name("sm_", capability);
    int error = 0;
    MaybeStop stop = compile(api, source, architecture, output, error);
    if (error == k_invalid_option) {
        return compile_ptx_below(api, source, capability, output);
    }
    if (stop) {
        return stop;
    }
    // The PTX that the machine code was made from is there as well (seen of 11.8 to 13.5).
    output.machine_code_architecture = architecture;
    output.ptx_architecture = architecture_name("compute_", capability);
    if (output.ptx.empty()) {
        NvrtcOutput of_ptx;
        stop = compile(api, source, output.ptx_architecture, of_ptx, error);
        output.ptx = std::move(of_ptx.ptx);
    }
    return stop;
}

template <>
void climb_library_rung<ProbeStep::Nvrtc>(std::span<const GpuUnderTest> gpus,
                                          const std::vector<std::string>& files) {
    if (!gpus.empty() && lacks_launch(*gpus.front().driver)) {
        for (const GpuUnderTest& gpu : gpus) {
            Rung(ProbeStep::Nvrtc, gpu.ordinal)
                .skipped("the driver's library has no function that launches a kernel");
        }
        return;
    }
    climb_each_gpu<NvrtcApi>(ProbeStep::Nvrtc, gpus, files, load_nvrtc_api, climb);
}

} // namespace cudaenv::kernels
