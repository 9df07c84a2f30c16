// What is known of the CUDA world without looking at the machine: the tables of data/, compiled in.
// Pure. A gap is std::nullopt: "unknown", which warns and never forbids. Each row carries its source.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::knowledge {

// --- driver and runtime -------------------------------------------------------------------------

struct DriverBound {
    DottedVersion driver; // oldest driver that will do
    std::string source;
};
// Oldest driver that runs machine code of a CUDA family at all: 11 -> 450.80.02, 12 -> 525.60.13,
// 13 -> 580.65.06. None for 10 and older: there the toolkit's own minimum is the floor.
std::optional<DriverBound> family_floor(unsigned cuda_major);
// The toolkit's own minimum driver (PTX too), by major.minor or by full release where the row is known.
std::optional<DriverBound> toolkit_minimum_driver(const DottedVersion& cuda);

struct DriverCuda {
    DottedVersion cuda; // what the driver's branch reports
    std::string source;
};
// From the branch table, where the driver itself cannot be asked.
std::optional<DriverCuda> cuda_of_driver(const DottedVersion& driver);

// Every CUDA toolkit release major.minor known, ascending: 7.0 ... 13.5.
std::span<const DottedVersion> cuda_releases();

// --- compilers and architectures of a toolkit ---------------------------------------------------

struct CompilerRange {
    std::optional<int> gcc_min;
    std::optional<int> gcc_max;
    std::optional<int> clang_min;
    std::optional<int> clang_max;
    std::string source;
};
std::optional<CompilerRange> compilers_of_toolkit(const DottedVersion& cuda);

// Machine code (SASS) runs on the same major with an equal or higher minor; PTX on anything at least
// as new, if the driver's CUDA is not older than the toolkit that made it.
struct Architectures {
    std::vector<ComputeCapability> sass; // ascending
    std::vector<ComputeCapability> ptx;
    bool derived = false; // bounded by the toolkit's own list, not read from the build
    std::string source;
};
bool serves_with_sass(const Architectures& architectures, ComputeCapability gpu);
bool serves_with_ptx(const Architectures& architectures, ComputeCapability gpu);
std::optional<Architectures> architectures_of_toolkit(const DottedVersion& cuda);

// --- GPUs ---------------------------------------------------------------------------------------

struct GpuModel {
    std::string name; // "GeForce GTX 860M"
    std::string chip; // "GM107M"
    std::optional<ComputeCapability> compute_capability;
    std::string source;
};
std::optional<GpuModel> gpu_by_pci_device(std::uint16_t device_id);
// By marketing name; none where the name is ambiguous (GTX 860M is two chips) or unknown.
std::optional<GpuModel> gpu_by_name(std::string_view name);

struct GpuGeneration {
    std::string architecture; // "Pascal"
    std::optional<DottedVersion> first_cuda;
    std::optional<std::string> last_cuda;          // "12.x"; none: still served
    std::optional<DottedVersion> last_driver_branch; // 580; none: still served
    std::string source;
};
std::optional<GpuGeneration> generation_of(ComputeCapability gpu);

// --- frameworks ---------------------------------------------------------------------------------

// One CUDA build of one torch release, as a wheel or as a conda package.
struct TorchVariant {
    DottedVersion torch; // 1.12.1
    std::string tag;     // cu113
    DottedVersion cuda;  // 11.3
    std::optional<std::string> cudnn; // "8.3.2.44", where known
    std::vector<DottedVersion> pythons; // 3.7 ... 3.10 that it has builds for, ascending; may be empty = unknown
    std::optional<Architectures> wheel_architectures; // none: there is no such wheel
    std::optional<Architectures> conda_architectures; // none: there is no such conda build
    bool wheel = false;             // there is a wheel
    bool wheel_is_default = false;  // what a bare `pip install torch==X` brings
    bool wheel_has_local_label = true; // the wheel's version is 1.12.1+cu113, not 1.12.1
    std::string wheel_index;        // https://download.pytorch.org/whl/cu113
    bool conda = false;             // there is a conda build
    std::string conda_toolkit;      // "cudatoolkit" or "pytorch-cuda", whichever it pins CUDA with
    std::vector<std::string> conda_channels; // pytorch, nvidia, ... in the order for -c
    std::vector<std::string> sources;
};

struct TorchRelease {
    DottedVersion torch;
    std::optional<std::string> torchvision; // partner versions
    std::optional<std::string> torchaudio;
    std::vector<DottedVersion> pythons;
    std::vector<TorchVariant> variants; // CUDA ascending
    std::string source;
};
std::span<const TorchRelease> torch_releases(); // ascending

struct TensorflowRelease {
    DottedVersion tensorflow;
    std::vector<DottedVersion> pythons;
    std::optional<DottedVersion> cuda;
    std::optional<DottedVersion> cudnn;
    bool and_cuda_extra = false; // pip install tensorflow[and-cuda]
    std::string source;
};
std::span<const TensorflowRelease> tensorflow_releases(); // ascending

// --- cuDNN and toolkit components ---------------------------------------------------------------

struct CudnnRelease {
    DottedVersion cudnn;
    std::vector<DottedVersion> cudas; // releases or bare majors it works with
    std::optional<DottedVersion> min_driver;
    std::string soname; // libcudnn.so.8
    std::string source;
};
std::span<const CudnnRelease> cudnn_releases();

// PyPI component versions of a toolkit release, "nvidia-cublas-cu11" -> "11.11.3.6".
struct ToolkitComponents {
    DottedVersion toolkit; // 11.8.0
    std::vector<std::pair<std::string, std::string>> components;
    std::string source;
};
std::span<const ToolkitComponents> toolkit_components();

} // namespace cudaenv::knowledge
