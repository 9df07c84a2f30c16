// What is known of the CUDA world without looking at the machine: the tables of data/, compiled in.
// Pure. A gap is std::nullopt: "unknown", which warns and never forbids. Each row carries its
// source.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
// The toolkit's own minimum driver (PTX too): of that release where its row is known (11.3.1), else
// the lowest of its major.minor. Where only the paired branch was read (13.4), that: 615.
std::optional<DriverBound> toolkit_minimum_driver(const DottedVersion& cuda);

struct DriverCuda {
    DottedVersion cuda;            // what the driver's branch reports
    bool lower_bound = false;      // the branch is in no row: what the nearest older one reports
    bool newer_than_known = false; // and no row is newer: what it gives is not known
    std::string source;
};
// From the branch table, where the driver itself cannot be asked. None for a driver older than all.
std::optional<DriverCuda> cuda_of_driver(const DottedVersion& driver);

// Every CUDA toolkit release major.minor known, ascending: 7.0 ... 13.5.
std::span<const DottedVersion> cuda_releases();
// The release nearest to what does not exist: 11.9 -> 11.8. Nothing where `cuda` exists, or is
// newer than all known.
std::optional<DottedVersion> nearest_cuda_release(const DottedVersion& cuda);

// --- compilers and architectures of a toolkit ---------------------------------------------------

// Whole major versions, both ends included. gcc_min and clang_min are documented, not enforced by
// nvcc.
struct CompilerRange {
    std::optional<int> gcc_min;
    std::optional<int> gcc_max;
    std::optional<int> clang_min;
    std::optional<int> clang_max;
    std::string source;
};
// By nvcc's own version (12.2.91), by release (12.2.1), else the newest build known of the
// major.minor: limits do move within a minor. A toolkit that is here knows better: its
// crt/host_config.h.
std::optional<CompilerRange> compilers_of_toolkit(const DottedVersion& cuda);

// Machine code (SASS) runs on the same major with an equal or higher minor; PTX on anything at
// least as new, if the driver's CUDA is not older than the toolkit that made it.
struct Architectures {
    std::vector<ComputeCapability> sass; // ascending
    std::vector<ComputeCapability> ptx;
    // Bounded by the toolkit's own list, not read from the build: an upper bound, so that "does not
    // serve" is certain and "serves" is not.
    bool derived = false;
    // Empty: read in or checked against the binary. "derived-by-date": the build script as it stood
    // at the release. "derived", "secondary": as the source says. "bounded": see `derived`.
    std::string confidence;
    std::string source;
};
bool serves_with_sass(const Architectures& architectures, ComputeCapability gpu);
bool serves_with_ptx(const Architectures& architectures, ComputeCapability gpu);
std::optional<Architectures> architectures_of_toolkit(const DottedVersion& cuda);

// --- GPUs ---------------------------------------------------------------------------------------

struct GpuModel {
    std::string name; // "GeForce GTX 860M"
    std::string
        chip; // "GM107M"; several of one capability as "GP107M/GP108M"; may be empty by name
    std::optional<ComputeCapability> compute_capability;
    std::string source;
};
std::optional<GpuModel> gpu_by_pci_device(std::uint16_t device_id);
// By marketing name, without regard to case, to a leading "NVIDIA" or to hyphens for spaces; none
// where the name is ambiguous (GTX 860M is two chips) or unknown.
std::optional<GpuModel> gpu_by_name(std::string_view name);

struct GpuGeneration {
    std::string architecture; // "Pascal"
    std::optional<DottedVersion> first_cuda;
    std::optional<std::string> last_cuda;            // "12.x"; none: still served
    std::optional<DottedVersion> last_driver_branch; // 580; none: still served
    std::string source;
};
std::optional<GpuGeneration> generation_of(ComputeCapability gpu);

// --- frameworks ---------------------------------------------------------------------------------

// One CUDA build of one torch release, as a wheel or as a conda package.
struct TorchVariant {
    DottedVersion torch;                // 1.12.1
    std::string tag;                    // cu113
    DottedVersion cuda;                 // 11.3
    std::optional<std::string> cudnn;   // "8.3.2.44", where known
    std::vector<DottedVersion> pythons; // of the wheels, 3.7 ... 3.10, ascending; empty = unknown
    std::optional<Architectures> wheel_architectures; // none: there is no such wheel
    std::optional<Architectures> conda_architectures; // none: there is no such conda build
    bool wheel = false;                               // there is a wheel
    bool wheel_is_default = false;                    // what a bare `pip install torch==X` brings
    bool wheel_has_local_label = true; // the wheel's version is 1.12.1+cu113, not 1.12.1
    std::optional<DottedVersion>
        glibc; // the oldest that the wheel runs on, where its tag asks for more than 2.17
    std::string wheel_index; // https://download.pytorch.org/whl/cu113
    // Partners' wheels for it with the versions that their names have: "0.13.1+cu113"; "0.7.0"
    // where they have no label, as PyPI's; none = there is no wheel for this build.
    std::optional<std::string> wheel_torchvision;
    std::optional<std::string> wheel_torchaudio;
    std::vector<DottedVersion> torchvision_pythons; // where fewer than torch's; empty = as torch's
    std::vector<DottedVersion> torchaudio_pythons;
    bool conda = false;        // there is a conda build
    std::string conda_toolkit; // "cudatoolkit" or "pytorch-cuda", whichever it pins CUDA with;
                               // for 1.0.0 a metapackage, "cuda90"
    std::string conda_pin;     // as `conda install` takes it: "cudatoolkit=11.3", "cuda90"
    std::vector<DottedVersion> conda_pythons; // of the conda builds; empty = unknown
    std::optional<std::string> conda_cudnn;   // "8.3.2", where known
    std::vector<std::string> conda_channels;  // pytorch, nvidia, ... in the order for -c
    std::string confidence; // of the variant's existence: empty, or "rfc" (announced, not seen)
    // Of torch_releases() for another processor. `other_processor`: this build is for x86-64 alone.
    // `processor_unknown`: whether it exists for this processor is not known.
    bool other_processor = false;
    bool processor_unknown = false;
    std::vector<std::string> sources;
};

struct TorchRelease {
    DottedVersion torch;
    std::optional<std::string> torchvision; // partner versions, of the wheels
    std::optional<std::string> torchaudio;
    std::optional<std::string>
        conda_torchvision; // of the conda packages (2.0.0 is paired otherwise)
    std::optional<std::string> conda_torchaudio;
    bool long_term_support = false; // on an index and a channel of its own
    std::string note;               // what is odd about it; usually empty
    std::vector<DottedVersion> pythons;
    std::vector<TorchVariant> variants; // CUDA ascending
    bool other_processor = false;       // no wheel at all for this processor, not even for the CPU
    std::string source;
};
// Ascending. `machine`: as uname names the processor; empty = x86_64. For another one the same
// releases and builds, with what holds there: on aarch64 few builds have CUDA, and the default
// index has builds without it up to 2.10; elsewhere there are no wheels.
std::span<const TorchRelease> torch_releases(std::string_view machine = "x86_64");

struct TensorflowRelease {
    DottedVersion tensorflow;
    std::vector<DottedVersion> pythons;
    std::optional<DottedVersion> cuda;
    std::optional<DottedVersion> cudnn;
    // pip install tensorflow[and-cuda]; false also where the index lacks what the extra requires.
    bool and_cuda_extra = false;
    std::vector<std::string> and_cuda; // what that extra requires, "nvidia-cudnn-cu12==9.3.0.75"
    std::vector<DottedVersion> and_cuda_pythons; // for which all of it exists; empty: as `pythons`
    std::string and_cuda_missing;                // "tensorrt-libs==8.6.1"; empty: nothing
    std::string package; // "tensorflow", or "tensorflow-gpu" up to 1.15; empty = unknown
    std::string source;
};
std::span<const TensorflowRelease> tensorflow_releases(); // ascending

// --- cuDNN and toolkit components ---------------------------------------------------------------

struct CudnnRelease {
    DottedVersion cudnn;                     // 8.9.5 from the support matrix, 8.9.5.30 from a wheel
    std::vector<DottedVersion> cudas;        // releases or bare majors it works with
    std::optional<DottedVersion> min_driver; // the lowest of the next, where known
    std::vector<std::pair<DottedVersion, DottedVersion>> min_drivers; // CUDA -> driver
    std::vector<std::string> distributions;                           // PyPI: "nvidia-cudnn-cu12"
    std::string soname;                                               // libcudnn.so.8
    std::optional<ComputeCapability> least_gpu;                       // none: its list was not read
    std::string source;
};
std::span<const CudnnRelease> cudnn_releases(); // ascending

// The oldest GPU that a cuDNN serves. Between two releases whose lists were read the newer list
// counts; before the first of them nothing is known.
struct CudnnFloor {
    ComputeCapability least_gpu;
    std::string source;
};
std::optional<CudnnFloor> cudnn_floor(std::string_view cudnn);

// A PyPI distribution that carries a CUDA library or tool.
struct PipDistribution {
    std::string name; // nvidia-cuda-nvcc
    unsigned cuda_major = 0;
    std::string component; // cuda-nvcc
    bool has_nvcc = false; // a compiler that runs: the cu11 and cu12 wheels carry none
    std::vector<std::string> sonames;
    std::vector<std::string> directories; // inside site-packages
    std::vector<std::string> versions;    // ascending
    std::string source;
};
std::span<const PipDistribution> pip_distributions();

} // namespace cudaenv::knowledge
