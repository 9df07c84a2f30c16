// A stand-in for libcublas.so.NN over the stand-in libcuda.so.1: it multiplies for real, in the
// host's memory that is the device's there. Its version is 13.1.0 unless a scenario says
// `cublasGetVersion garbage 120400`.
#include "current_gpu.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using namespace standin;

constexpr int k_not_initialized = 1;
constexpr int k_invalid_value = 7;
constexpr int k_not_supported = 15;

struct Handle {
    int gpu = 0;
};

int version() {
    return scripted_for("cublasGetVersion").garbage.value_or(130100);
}

// Normal numbers and zero: no others are asked for.
float half(const void* values, std::size_t at) {
    const auto bits = static_cast<const std::uint16_t*>(values)[at];
    const int exponent = (bits >> 10) & 31;
    const float size =
        exponent == 0 ? 0.0F : std::ldexp(1024.0F + static_cast<float>(bits & 1023), exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}
float single(const void* values, std::size_t at) {
    return static_cast<const float*>(values)[at];
}

// C = alpha A B + beta C, columns first, nothing transposed. Where beta is 0, C is not read.
template <typename Element>
void multiply(int m, int n, int k, float alpha, const void* a, int lda, const void* b, int ldb,
              float beta, float* c, int ldc, Element element) {
    const auto at = [](int row, int column, int leading) {
        return static_cast<std::size_t>(column) * static_cast<std::size_t>(leading) +
               static_cast<std::size_t>(row);
    };
    for (int column = 0; column < n; ++column) {
        for (int row = 0; row < m; ++row) {
            float sum = 0;
            for (int inner = 0; inner < k; ++inner) {
                sum += element(a, at(row, inner, lda)) * element(b, at(inner, column, ldb));
            }
            float& into = c[at(row, column, ldc)];
            into = alpha * sum + (beta == 0 ? 0 : beta * into);
        }
    }
}

} // namespace

EXPORTED int cublasCreate_v2(void** handle) {
    if (const int status = scripted_for("cublasCreate").status; status != 0) {
        return status;
    }
    const auto gpu = current_gpu();
    if (!gpu) {
        return k_not_initialized;
    }
    *handle = new Handle{*gpu};
    return 0;
}
EXPORTED int cublasDestroy_v2(void* handle) {
    const int status = scripted_for("cublasDestroy").status;
    delete static_cast<Handle*>(handle);
    return status;
}
EXPORTED int cublasGetVersion_v2(void*, int* number) {
    *number = version();
    return 0;
}
EXPORTED int cublasGetProperty(int property, int* value) {
    const int number = version();
    const std::array parts = {number / 10000, number / 100 % 100, number % 100};
    if (property < 0 || property > 2) {
        return k_invalid_value;
    }
    *value = parts[static_cast<std::size_t>(property)];
    return 0;
}
EXPORTED int cublasSgemm_v2(void* handle, int of_a, int of_b, int m, int n, int k,
                            const float* alpha, const float* a, int lda, const float* b, int ldb,
                            const float* beta, float* c, int ldc) {
    const Scripted scripted = scripted_for("cublasSgemm");
    if (scripted.status != 0) {
        return scripted.status;
    }
    if (handle == nullptr || static_cast<Handle*>(handle)->gpu != current_gpu()) {
        return k_not_initialized;
    }
    if (of_a != 0 || of_b != 0) {
        return k_not_supported;
    }
    if (scripted.is_unwritten) {
        return 0;
    }
    multiply(m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc, single);
    if (scripted.is_wrong) {
        c[m * n / 2] += 1.0F;
    }
    return 0;
}
EXPORTED int cublasGemmEx(void* handle, int of_a, int of_b, int m, int n, int k, const void* alpha,
                          const void* a, int type_a, int lda, const void* b, int type_b, int ldb,
                          const void* beta, void* c, int type_c, int ldc, int compute, int) {
    const Scripted scripted = scripted_for("cublasGemmEx");
    if (scripted.status != 0) {
        return scripted.status;
    }
    if (handle == nullptr || static_cast<Handle*>(handle)->gpu != current_gpu()) {
        return k_not_initialized;
    }
    // CUDA_R_16F, CUDA_R_32F; CUBLAS_COMPUTE_32F is a number of its own from 11 on.
    const int compute_32 = version() / 10000 < 11 ? 0 : 68;
    if (of_a != 0 || of_b != 0 || type_a != 2 || type_b != 2 || type_c != 0 ||
        compute != compute_32) {
        return k_not_supported;
    }
    if (scripted.is_unwritten) {
        return 0;
    }
    auto* into = static_cast<float*>(c);
    multiply(m, n, k, *static_cast<const float*>(alpha), a, lda, b, ldb,
             *static_cast<const float*>(beta), into, ldc, half);
    if (scripted.is_wrong) {
        into[m * n / 2] += 1.0F;
    }
    return 0;
}
