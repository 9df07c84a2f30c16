// Shuffles within a warp.
#pragma once

// out[i] = the sum of the words of i's warp up to and with i. `count` is a multiple of 32, so that
// all of a warp take part.
extern "C" __global__ void cudaenv_shuffle(const unsigned* in, unsigned* out, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    const unsigned lane = i % 32;
    unsigned sum = in[i];
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned before = __shfl_up_sync(0xFFFFFFFFU, sum, distance);
        if (lane >= distance) {
            sum += before;
        }
    }
    out[i] = sum;
}
