// What the quick probe is measured beside: cuInit, one kernel, its result compared, no more.
#include <cstdio>

__global__ void fill(int* values) {
    values[threadIdx.x] = static_cast<int>(threadIdx.x) * 3;
}

int main() {
    constexpr int k_count = 256;
    int* device = nullptr;
    int host[k_count];
    if (cudaMalloc(reinterpret_cast<void**>(&device), sizeof host) != cudaSuccess) {
        return 1;
    }
    fill<<<1, k_count>>>(device);
    if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) {
        return 1;
    }
    for (int i = 0; i < k_count; ++i) {
        if (host[i] != 3 * i) {
            return 1;
        }
    }
    return cudaFree(device) == cudaSuccess ? 0 : 1;
}
