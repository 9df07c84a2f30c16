// The device half of the extension: kept apart from torch's headers, so that nvcc is done quickly.
#include <cuda_runtime.h>

__global__ void add_one(float* values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        values[i] += 1.0f;
    }
}

int launch_add_one(float* values, int count) {
    add_one<<<(count + 127) / 128, 128>>>(values, count);
    return static_cast<int>(cudaGetLastError());
}
