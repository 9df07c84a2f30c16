#include "kernels/rungs/library_numbers.hpp"
#include "kernels/rungs/rungs.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace cudaenv::kernels {
namespace {

constexpr std::size_t k_side = 64;
constexpr int k_n = static_cast<int>(k_side);

// cublas_api.h and library_types.h.
constexpr int k_not_transposed = 0;
constexpr int k_real_16 = 2;            // CUDA_R_16F
constexpr int k_real_32 = 0;            // CUDA_R_32F
constexpr int k_compute_32 = 68;        // CUBLAS_COMPUTE_32F, from cuBLAS 11 on
constexpr int k_default_algorithm = -1; // CUBLAS_GEMM_DEFAULT
constexpr int k_tensor_algorithm = 99;  // CUBLAS_GEMM_DEFAULT_TENSOR_OP, before cuBLAS 11

// Those after gemm_ex may be null.
struct CublasApi {
    std::string path;
    int (*create)(void**) = nullptr;
    int (*destroy)(void*) = nullptr;
    int (*get_version)(void*, int*) = nullptr;
    int (*sgemm)(void*, int, int, int, int, int, const float*, const float*, int, const float*, int,
                 const float*, float*, int) = nullptr;
    int (*gemm_ex)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                   int, int, const void*, void*, int, int, int, int) = nullptr;
    int (*get_property)(int, int*) = nullptr;
    const char* (*get_status_name)(int) = nullptr; // 11.4
};

MaybeStop load_cublas_api(const LoadedLibrary& library, CublasApi& api) {
    api.path = library.path;
    find_function(library.handle, "cublasGetProperty", api.get_property);
    find_function(library.handle, "cublasGetStatusName", api.get_status_name);
    return NeededFunctions(library.handle, library.path)
        .find("cublasCreate_v2", api.create)
        .find("cublasDestroy_v2", api.destroy)
        .find("cublasGetVersion_v2", api.get_version)
        .find("cublasSgemm_v2", api.sgemm)
        .find("cublasGemmEx", api.gemm_ex)
        .missing();
}

// For those that cannot say it themselves.
const char* status_name(int status) {
    switch (status) {
    case 1:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    case 3:
        return "CUBLAS_STATUS_ALLOC_FAILED";
    case 7:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case 8:
        return "CUBLAS_STATUS_ARCH_MISMATCH";
    case 11:
        return "CUBLAS_STATUS_MAPPING_ERROR";
    case 13:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    case 14:
        return "CUBLAS_STATUS_INTERNAL_ERROR";
    case 15:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    case 16:
        return "CUBLAS_STATUS_LICENSE_ERROR";
    default:
        return "";
    }
}

Stop failed(const CublasApi& api, std::string call, int status) {
    Stop stop;
    stop.call = std::move(call);
    stop.error = status;
    const char* name = api.get_status_name == nullptr ? nullptr : api.get_status_name(status);
    stop.error_name = name == nullptr ? status_name(status) : name;
    return stop;
}

class Handle {
public:
    explicit Handle(const CublasApi& api) : m_api(api) {}
    ~Handle() {
        if (m_handle != nullptr) {
            m_api.destroy(m_handle);
        }
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    MaybeStop create() {
        if (const int status = m_api.create(&m_handle)) {
            m_handle = nullptr;
            return failed(m_api, "cublasCreate", status);
        }
        return std::nullopt;
    }
    void* get() const { return m_handle; }

private:
    const CublasApi& m_api;
    void* m_handle = nullptr;
};

// The properties say it without a formula, which was another before 11.
std::string version_of(const CublasApi& api, void* handle) {
    std::array<int, 3> parts{};
    bool said = api.get_property != nullptr;
    for (int property = 0; said && property < 3; ++property) {
        said = api.get_property(property, &parts[static_cast<std::size_t>(property)]) == 0;
    }
    if (said && parts[0] > 0) {
        return std::to_string(parts[0]) + '.' + std::to_string(parts[1]) + '.' +
               std::to_string(parts[2]);
    }
    int number = 0;
    return api.get_version(handle, &number) == 0 && number > 0 ? cublas_version(number)
                                                               : std::string{};
}

bool before_11(const CublasApi& api, void* handle) {
    int major = 0;
    if (api.get_property != nullptr && api.get_property(0, &major) == 0 && major > 0) {
        return major < 11;
    }
    int number = 0;
    return api.get_version(handle, &number) == 0 && number < 11000;
}

// The product that `multiply` makes on the GPU, against the CPU's.
template <typename Multiply>
MaybeStop check_product(const CurrentGpu& current, DeviceBuffer& result,
                        const std::vector<float>& right, const char* what, Multiply multiply) {
    std::vector<float> got(right.size(), -1.0F);
    MaybeStop stop = result.take(got);
    if (!stop) {
        stop = multiply();
    }
    if (!stop) {
        stop = current.synchronize();
    }
    if (!stop) {
        stop = result.give(got);
    }
    if (stop) {
        return stop;
    }
    if (auto difference = first_difference(got, right, 0)) {
        return wrong_result(std::string(what) + ": " + *difference);
    }
    return std::nullopt;
}

std::vector<std::uint16_t> halves_of(const std::vector<float>& integers) {
    std::vector<std::uint16_t> halves;
    halves.reserve(integers.size());
    for (const float value : integers) {
        halves.push_back(half_of_integer(static_cast<int>(value)));
    }
    return halves;
}

MaybeStop climb(Rung& rung, const GpuUnderTest& gpu, const CublasApi& api) {
    CurrentGpu current(gpu);
    if (MaybeStop stop = current.make_current()) {
        return stop;
    }
    const std::vector<float> a = small_integers(k_side * k_side, 1);
    const std::vector<float> b = small_integers(k_side * k_side, 2);
    const std::vector<float> right = product(a, b, k_side);
    const float one = 1.0F;
    const float zero = 0.0F;
    nlohmann::json checks = nlohmann::json::array();

    DeviceBuffer on_gpu_a(gpu);
    if (MaybeStop stop = on_gpu_a.take(a)) {
        return stop;
    }
    DeviceBuffer on_gpu_b(gpu);
    if (MaybeStop stop = on_gpu_b.take(b)) {
        return stop;
    }
    Handle handle(api);
    if (MaybeStop stop = handle.create()) {
        return stop;
    }
    if (const std::string version = version_of(api, handle.get()); !version.empty()) {
        rung.set("version", version);
    }

    DeviceBuffer result(gpu);
    const auto multiply = [&]() -> MaybeStop {
        const int status = api.sgemm(handle.get(), k_not_transposed, k_not_transposed, k_n, k_n,
                                     k_n, &one, static_cast<const float*>(on_gpu_a.address()), k_n,
                                     static_cast<const float*>(on_gpu_b.address()), k_n, &zero,
                                     static_cast<float*>(result.address()), k_n);
        return status == 0 ? MaybeStop{} : failed(api, "cublasSgemm", status);
    };
    if (MaybeStop stop = check_product(current, result, right, "SGEMM", multiply)) {
        return stop;
    }
    checks.push_back("sgemm");
    rung.set("checks", checks);

    if (gpu.capability.major < 7) { // no tensor cores
        return std::nullopt;
    }
    DeviceBuffer half_a(gpu);
    if (MaybeStop stop = half_a.take(halves_of(a))) {
        return stop;
    }
    DeviceBuffer half_b(gpu);
    if (MaybeStop stop = half_b.take(halves_of(b))) {
        return stop;
    }
    const bool old = before_11(api, handle.get());
    DeviceBuffer result_of_halves(gpu);
    const auto multiply_halves = [&]() -> MaybeStop {
        const int status =
            api.gemm_ex(handle.get(), k_not_transposed, k_not_transposed, k_n, k_n, k_n, &one,
                        half_a.address(), k_real_16, k_n, half_b.address(), k_real_16, k_n, &zero,
                        result_of_halves.address(), k_real_32, k_n, old ? k_real_32 : k_compute_32,
                        old ? k_tensor_algorithm : k_default_algorithm);
        return status == 0 ? MaybeStop{} : failed(api, "cublasGemmEx", status);
    };
    if (MaybeStop stop =
            check_product(current, result_of_halves, right, "GEMM of FP16", multiply_halves)) {
        return stop;
    }
    checks.push_back("gemm-fp16");
    rung.set("checks", checks);
    return std::nullopt;
}

} // namespace

template <>
void climb_library_rung<ProbeStep::Cublas>(std::span<const GpuUnderTest> gpus,
                                           const std::vector<std::string>& files) {
    climb_each_gpu<CublasApi>(ProbeStep::Cublas, gpus, files, load_cublas_api, climb);
}

} // namespace cudaenv::kernels
