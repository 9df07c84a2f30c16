#include "kernels/rungs/library_numbers.hpp"
#include "kernels/rungs/rungs.hpp"

#include <algorithm>
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
constexpr auto k_status_names =
    std::to_array<std::pair<int, const char*>>({{1, "CUBLAS_STATUS_NOT_INITIALIZED"},
                                                {3, "CUBLAS_STATUS_ALLOC_FAILED"},
                                                {7, "CUBLAS_STATUS_INVALID_VALUE"},
                                                {8, "CUBLAS_STATUS_ARCH_MISMATCH"},
                                                {11, "CUBLAS_STATUS_MAPPING_ERROR"},
                                                {13, "CUBLAS_STATUS_EXECUTION_FAILED"},
                                                {14, "CUBLAS_STATUS_INTERNAL_ERROR"},
                                                {15, "CUBLAS_STATUS_NOT_SUPPORTED"},
                                                {16, "CUBLAS_STATUS_LICENSE_ERROR"}});

MaybeStop checked(const CublasApi& api, const char* call, int status) {
    if (status == 0) {
        return std::nullopt;
    }
    Stop stop{.call = call, .error = status, .error_name = words_of(api.get_status_name, status)};
    const auto* const known =
        std::ranges::find(k_status_names, status, &decltype(k_status_names)::value_type::first);
    if (stop.error_name.empty() && known != k_status_names.end()) {
        stop.error_name = known->second;
    }
    return stop;
}

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
    CUDAENV_STOP_IF(result.take(got));
    CUDAENV_STOP_IF(multiply());
    CUDAENV_STOP_IF(current.synchronize());
    CUDAENV_STOP_IF(result.give(got));
    return compared(what, got, right);
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
    CUDAENV_STOP_IF(current.make_current());
    const std::vector<float> a = small_integers(k_side * k_side, 1);
    const std::vector<float> b = small_integers(k_side * k_side, 2);
    const std::vector<float> right = product(a, b, k_side);
    const float one = 1.0F;
    const float zero = 0.0F;
    nlohmann::json checks = nlohmann::json::array();

    DeviceBuffer on_gpu_a(gpu);
    CUDAENV_STOP_IF(on_gpu_a.take(a));
    DeviceBuffer on_gpu_b(gpu);
    CUDAENV_STOP_IF(on_gpu_b.take(b));
    Owned handle(api.destroy);
    CUDAENV_STOP_IF(checked(api, "cublasCreate", handle.create(api.create)));
    if (const std::string version = version_of(api, handle.get()); !version.empty()) {
        rung.set("version", version);
    }

    DeviceBuffer result(gpu);
    const auto multiply = [&] {
        return checked(api, "cublasSgemm",
                       api.sgemm(handle.get(), k_not_transposed, k_not_transposed, k_n, k_n, k_n,
                                 &one, static_cast<const float*>(on_gpu_a.address()), k_n,
                                 static_cast<const float*>(on_gpu_b.address()), k_n, &zero,
                                 static_cast<float*>(result.address()), k_n));
    };
    CUDAENV_STOP_IF(check_product(current, result, right, "SGEMM: ", multiply));
    checks.push_back("sgemm");
    rung.set("checks", checks);

    if (gpu.capability.major < 7) { // no tensor cores
        return std::nullopt;
    }
    DeviceBuffer half_a(gpu);
    CUDAENV_STOP_IF(half_a.take(halves_of(a)));
    DeviceBuffer half_b(gpu);
    CUDAENV_STOP_IF(half_b.take(halves_of(b)));
    const bool old = before_11(api, handle.get());
    DeviceBuffer result_of_halves(gpu);
    const auto multiply_halves = [&] {
        return checked(api, "cublasGemmEx",
                       api.gemm_ex(handle.get(), k_not_transposed, k_not_transposed, k_n, k_n, k_n,
                                   &one, half_a.address(), k_real_16, k_n, half_b.address(),
                                   k_real_16, k_n, &zero, result_of_halves.address(), k_real_32,
                                   k_n, old ? k_real_32 : k_compute_32,
                                   old ? k_tensor_algorithm : k_default_algorithm));
    };
    CUDAENV_STOP_IF(
        check_product(current, result_of_halves, right, "GEMM of FP16: ", multiply_halves));
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
