// The rungs of the full ladder that rest on a library of the environment's. Each begins and ends
// its own rungs (kernels/reporter.hpp), one for each GPU or one in all; `files` are the places
// where the library may be, the first that loads is taken; where none does, or none is named, the
// rung is skipped with the reason, or refused where a file that is there could not be loaded (with
// the loader's words).
//
// Law: a few MB by plain allocations, all given back; results are compared with the CPU's; no
// setting of a GPU is touched; nothing throws.
#pragma once

#include "kernels/gpu_under_test.hpp"

#include <span>
#include <string>
#include <vector>

namespace cudaenv::kernels {

// Compiles a kernel to machine code for the GPU and to PTX, and runs both.
void climb_nvrtc(std::span<const GpuUnderTest> gpus, const std::vector<std::string>& files);
// A small SGEMM, and an FP16 one where there are tensor cores.
void climb_cublas(std::span<const GpuUnderTest> gpus, const std::vector<std::string>& files);
// Its version, the CUDA it was built for, and a small convolution. 7, 8 and 9.
void climb_cudnn(std::span<const GpuUnderTest> gpus, const std::vector<std::string>& files);
// An all-reduce over all of `gpus`; skipped below two.
void climb_nccl(std::span<const GpuUnderTest> gpus, const std::vector<std::string>& files);

// How a library was loaded.
struct LoadedLibrary {
    void* handle = nullptr;
    std::string path;    // links followed; of a refusal the file that was refused, as it was met
    std::string refusal; // the loader's words on a file that is there; empty: there is none
};
// dlopen of one, which is told beforehand; null with the reason in `refusal`. One that is cut short
// is not opened: to map it would end the process.
void* open_whole(const std::string& file, std::string& refusal);
// dlopen of the first of `files` that loads.
LoadedLibrary load_first(const std::vector<std::string>& files);

} // namespace cudaenv::kernels
