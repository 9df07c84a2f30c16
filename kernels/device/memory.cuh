// Global memory, shared memory and atomics.
#pragma once

// out[i] = step(in[i]): each word on its way through global memory, a grid's stride apart.
extern "C" __global__ void cudaenv_global(const unsigned* in, unsigned* out, unsigned count) {
    const unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        out[i] = in[i] * 1664525U + 1013904223U;
    }
}

// out[block] = the sum of the 1024 words of its block, added up as a tree in shared memory. 256
// threads.
extern "C" __global__ void cudaenv_shared(const unsigned* in, unsigned* out, unsigned count) {
    __shared__ unsigned sums[256];
    unsigned sum = 0;
    for (unsigned part = 0; part < 4; ++part) {
        const unsigned i = blockIdx.x * 1024 + part * 256 + threadIdx.x;
        sum += i < count ? in[i] : 0;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sums[0];
    }
}

// A histogram of the low six bits in out[0..63], counted in shared memory and then added up in
// global memory; the largest word in out[64].
extern "C" __global__ void cudaenv_atomics(const unsigned* in, unsigned* out, unsigned count) {
    __shared__ unsigned bins[64];
    if (threadIdx.x < 64) {
        bins[threadIdx.x] = 0;
    }
    __syncthreads();
    const unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        atomicAdd(&bins[in[i] % 64], 1U);
        atomicMax(&out[64], in[i]);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
    }
}
