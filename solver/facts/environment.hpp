// What one environment (conda's, venv's or uv's) holds that matters for CUDA: found by
// host/environments, judged by shellhooks/activation. Pure data; every value says where it comes
// from.
#pragma once

#include "base/dotted_version.hpp"
#include "solver/facts/host.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::facts {

enum class EnvironmentKind { Conda, Venv };

// A framework as it is installed: what its binaries were built with.
struct FrameworkBuild {
    std::string name;                   // PyPI's: torch, tensorflow, jaxlib, cupy
    std::string version;                // 1.12.1+cu113
    std::optional<DottedVersion> cuda;  // 11.3; none: a build without CUDA, or unknown
    bool cpu = false;                   // known to be a build without CUDA
    std::string source;                 // the file it was read from
};

struct InstalledPackage {
    std::string name; // conda's, or PyPI's normalised
    std::string version;
    bool conda = false; // on record in conda-meta
};

// The CUDA runtime that an environment carries: cudatoolkit, cuda-version, nvidia-cuda-runtime-cu12.
struct CarriedRuntime {
    std::string package; // "cudatoolkit"
    DottedVersion version;
    std::string source;
};

// cuDNN as a build needs it: where its header and its library are.
struct CudnnPlace {
    std::string root;         // directory above include/ and lib/
    std::string include_dir;
    std::string library_dir;  // empty: header only
    std::string library;      // the file libcudnn.so (or .so.N); empty: header only
    std::optional<DottedVersion> version;
};

// Where the parts of a toolkit are. Absolute directories that exist; empty where there is none.
struct ToolkitLayout {
    std::string path;     // the toolkit's root, as CUDA_HOME names it
    std::string bin;      // holds nvcc
    std::string include;  // holds cuda.h
    std::string library;  // holds libcudart.so: lib64, lib, targets/x86_64-linux/lib
    std::string libdevice_root; // holds nvvm/libdevice: what XLA's --xla_gpu_cuda_data_dir wants
    std::vector<std::string> sonames; // of its libraries, "libcudart.so.12", sorted
    std::optional<CudnnPlace> cudnn;  // inside the toolkit
};

struct EnvironmentFacts {
    std::string prefix; // absolute, as it is active
    EnvironmentKind kind = EnvironmentKind::Conda;
    bool uv = false;                        // made by uv: its pyvenv.cfg says so
    std::string python;                     // 3.11.7; empty: unknown
    std::vector<std::string> site_packages; // directories
    std::vector<InstalledPackage> installed; // conda's records by name, then each site's
    std::vector<FrameworkBuild> frameworks; // the one that decides first: torch, tensorflow, jaxlib, cupy
    std::optional<CarriedRuntime> runtime;
    // nvcc of the environment's own, with its layout: of conda's cuda-nvcc, of PyPI's
    // nvidia-cuda-nvcc (site-packages/nvidia/cu13).
    std::vector<Toolkit> toolkits;
    std::vector<Compiler> compilers; // of the environment's own, C++ drivers
    std::optional<CudnnPlace> cudnn; // with headers
    // CUDA libraries that the environment carries, anywhere in it that a framework of it would load
    // from: "libcudart.so.12", "libcudnn.so.9"; sorted.
    std::vector<std::string> sonames;
    // Files and directories whose change means that the above is to be read again.
    std::vector<std::string> watch;
    std::vector<std::string> notes; // what could not be read, and why
};

// What compiling may use of this machine, containers' limits (cgroups) counted in.
struct BuildMachine {
    int cores = 1;                                  // usable by this process
    std::optional<std::uint64_t> memory_bytes;      // that may still be used
};

} // namespace cudaenv::facts
