// The device code of the probe, one translation unit so that nvcc makes one fatbin of it. What each
// kernel must compute is written a second time for the CPU in kernels/checks.cpp.
//
// Law: every kernel takes (words in, words out, number of words in), reads and writes nothing
// else, and what it computes is exact, so that the CPU's result is the same to the last bit.
#include "kernels/device/memory.cuh"
#include "kernels/device/tensor.cuh"
#include "kernels/device/warp.cuh"
