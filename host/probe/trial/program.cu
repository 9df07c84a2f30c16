// Compiled, linked and run by `cudaenv probe --build`. The last line that it prints says how it
// went: "ok", "failed CALL NUMBER NAME" or "wrong WHAT".
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void scale(const float* from, float* to, int count, float by) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = from[i] * by + 1.0f;
    }
}

static bool refused(const char* call, cudaError_t error) {
    if (error == cudaSuccess) {
        return false;
    }
    std::printf("failed %s %d %s\n", call, static_cast<int>(error), cudaGetErrorName(error));
    return true;
}

int main() {
    const int count = 1000;
    std::vector<float> values(count);
    for (int i = 0; i < count; ++i) {
        values[i] = static_cast<float>(i);
    }
    float* from = nullptr;
    float* to = nullptr;
    if (refused("cudaMalloc", cudaMalloc(&from, count * sizeof(float))) ||
        refused("cudaMalloc", cudaMalloc(&to, count * sizeof(float))) ||
        refused("cudaMemcpy", cudaMemcpy(from, values.data(), count * sizeof(float),
                                         cudaMemcpyHostToDevice))) {
        return 1;
    }
    scale<<<(count + 127) / 128, 128>>>(from, to, count, 2.0f);
    if (refused("cudaGetLastError", cudaGetLastError()) ||
        refused("cudaDeviceSynchronize", cudaDeviceSynchronize()) ||
        refused("cudaMemcpy",
                cudaMemcpy(values.data(), to, count * sizeof(float), cudaMemcpyDeviceToHost))) {
        return 1;
    }
    cudaFree(from);
    cudaFree(to);
    for (int i = 0; i < count; ++i) {
        if (values[i] != 2.0f * static_cast<float>(i) + 1.0f) {
            std::printf("wrong element %d is %g\n", i, static_cast<double>(values[i]));
            return 1;
        }
    }
    std::puts("ok");
    return 0;
}
