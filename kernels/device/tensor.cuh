// Products on tensor cores: C = A * B of 64 x 64, row by row, one warp for each 16 x 16 of C
// (grid 4 x 4). `in` holds A and then B, `out` takes C as binary32. Where the architecture has no
// such instruction the kernel is not there, and is not asked for (kernels/checks.cpp).
#pragma once

#if __CUDA_ARCH__ >= 700

#include <mma.h>

namespace {

constexpr int k_size = 64;
constexpr int k_tile = 16;

template <typename Number, typename Element, int depth>
__device__ void multiply(const void* in, float* out) {
    using namespace nvcuda;
    const auto* a = static_cast<const Number*>(in);
    const auto* b = a + k_size * k_size;
    const int row = blockIdx.y * k_tile;
    const int column = blockIdx.x * k_tile;
    wmma::fragment<wmma::accumulator, k_tile, k_tile, depth, float> sum;
    wmma::fill_fragment(sum, 0.0F);
    for (int k = 0; k < k_size; k += depth) {
        wmma::fragment<wmma::matrix_a, k_tile, k_tile, depth, Element, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, k_tile, k_tile, depth, Element, wmma::row_major> right;
        wmma::load_matrix_sync(left, a + row * k_size + k, k_size);
        wmma::load_matrix_sync(right, b + k * k_size + column, k_size);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(out + row * k_size + column, sum, k_size, wmma::mem_row_major);
}

} // namespace

extern "C" __global__ void cudaenv_tensor_fp16(const void* in, float* out, unsigned) {
    multiply<__half, __half, 16>(in, out);
}

#if __CUDA_ARCH__ >= 800

extern "C" __global__ void cudaenv_tensor_bf16(const void* in, float* out, unsigned) {
    multiply<__nv_bfloat16, __nv_bfloat16, 16>(in, out);
}

// The numbers are exact in TF32, which is binary32 with a shorter fraction: nothing is to round.
extern "C" __global__ void cudaenv_tensor_tf32(const void* in, float* out, unsigned) {
    multiply<float, nvcuda::wmma::precision::tf32, 8>(in, out);
}

#endif
#endif
