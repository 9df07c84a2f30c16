#include "kernels/code_on_gpu.hpp"
#include "kernels/rungs/library_numbers.hpp"
#include "kernels/rungs/nvrtc_library.hpp"
#include "kernels/rungs/rungs.hpp"

#include <array>

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
