// Does it fit here: the one home of judgements over driver, CUDA, GPU, a build's device code,
// compilers, glibc and machine. Each answers yes, no or unknown with the values and the source that
// it rests on; a caller shows a tick for yes alone. Pure: tables and values in, judgement out.
// resolve, status, toolkits, check, probe and activation all ask here.
#pragma once

#include "solver/facts/host.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::knowledge {

enum class Answer { No, Unknown, Yes };

// --- driver -------------------------------------------------------------------------------------

enum class DriverFit {
    Full,         // runs everything of that CUDA
    BelowMinimum, // gives that CUDA, but is older than the toolkit's own minimum
    MachineCode, // minor version compatibility: machine code runs, PTX of that CUDA is refused with
                 // error 222
    TooOld,      // below the floor: every call fails with error 35
    Unknown,     // no driver, or nothing is known of it
};

struct DriverJudgement {
    DriverFit fit = DriverFit::Unknown;
    std::string driver;                 // "driver 470.199.02", "the driver"; empty: there is none
    std::optional<DottedVersion> gives; // the CUDA it gives, as itself or its branch says
    bool measured = false;              // by the probe
    bool newer = false;                 // than every branch in the table, and it reports no CUDA
    std::optional<DriverBound> floor;   // below it nothing of this CUDA runs
    std::optional<DriverBound> minimum; // from it on everything does
    std::string source;                 // of the driver's version or CUDA

    [[nodiscard]] Answer runs() const;
};
// From CUDA 11 on the releases of one major are a family: a driver that has its floor runs machine
// code of every minor. Before, each release had its own minimum.
bool has_family(const DottedVersion& cuda);
// `cuda`: major.minor, or more of it; a bare major (a wheel "for CUDA 12") is judged by the floor.
DriverJudgement driver_fit(const facts::Host& host, const DottedVersion& cuda);

// The CUDA that the driver gives: as it was measured, as the driver reports it, else as its branch
// says. None without a driver, for a branch that is newer than the table, and for Windows' and
// Jetson's drivers, which are numbered apart.
std::optional<DottedVersion> driver_cuda(const facts::Host& host);
// "driver 550.54.15 gives CUDA 12.4", "driver 999.1 is newer than cudaenv knows"; empty without a
// driver.
std::string driver_text(const facts::Host& host);
// The same beside an answer with that CUDA; a yes only for what the driver is known to run.
struct DriverVerdict {
    std::string text;
    Answer answer = Answer::Unknown;
};
DriverVerdict driver_verdict(const facts::Host& host, const DottedVersion& cuda);

// The newest release that the driver gives in full: 12.6 of 12.7, which has none. None: unknown.
std::optional<DottedVersion> newest_cuda_in_full(const facts::Host& host);

// The first driver whose CUDA has code for this GPU, where the driver here is of an older branch: no
// such driver is known to start it. None: it is not older, or one of both is unknown.
std::optional<DriverBound> driver_before_gpu(const facts::Host& host, ComputeCapability gpu);

// --- GPU ----------------------------------------------------------------------------------------

enum class GpuFit {
    MachineCode,
    Ptx,     // compiled by the driver at first use
    NoCode,  // the build has none for it
    TooNew,  // that CUDA, and so its libraries, came before the GPU
    TooOld,  // that CUDA no longer serves it
    Unknown, // the build's list is not known, or is an upper bound only
};

struct GpuJudgement {
    GpuFit fit = GpuFit::Unknown;
    std::string source; // of the list that decided
    // TooNew: the first CUDA that serves it; TooOld: the last ("12.x", "12.9").
    std::string other_cuda;
    // Read in the build, or bounded by its toolkit: a "no" that rests on a list of lower confidence
    // is a warning.
    bool certain = true;

    [[nodiscard]] Answer runs() const;
};

// Machine code made for `made` runs on `gpu`: the same major and no higher minor, with NVIDIA's
// exceptions for integrated GPUs, 10.0 and 10.1 (source: torch/cuda/__init__.py of torch 2.15,
// DEVICE_REQUIREMENT).
bool machine_code_runs(ComputeCapability made, ComputeCapability gpu, const DottedVersion& cuda);
// A toolkit and its libraries: nvcc, cuBLAS, cuDNN, NVRTC of that CUDA.
GpuJudgement toolkit_serves(const DottedVersion& cuda, ComputeCapability gpu);
// A build made with `cuda`: its libraries have to serve the GPU, and its own code has to run there.
// `code` is nullptr where the build's list is not known.
GpuJudgement build_serves(const DottedVersion& cuda, const Architectures* code,
                          ComputeCapability gpu, const facts::Host& host);

// The GPUs of a host, those that the probe saw where it did, named: "NVIDIA A100", "GPU 0".
struct NamedGpu {
    int index = 0; // in NVML's order, by PCI address
    std::string name;
    std::string uuid; // empty where unknown
    std::optional<ComputeCapability> capability;
    std::string source;
};
std::vector<NamedGpu> gpus_of(const facts::Host& host);
// What `export` shows programs these GPUs alone with: UUIDs where all are known; else indexes,
// whose order is NVML's only with CUDA_DEVICE_ORDER (CUDA's own order is the fastest GPU first:
// CUDA C++ Programming Guide, "CUDA Environment Variables").
std::string visible_devices(std::span<const NamedGpu> gpus);

// --- compilers ----------------------------------------------------------------------------------

// The majors that nvcc of this toolkit accepts: its crt/host_config.h or, for what that leaves
// open, the table.
CompilerRange compiler_range(const facts::Toolkit& toolkit);
// nvcc of this toolkit takes the compiler, by its crt/host_config.h or the table. Yes with a bound
// that only documents (gcc_min) is yes.
Answer accepts_compiler(const facts::Toolkit& toolkit, const facts::Compiler& compiler);
// The newest g++ that builds with it: what it accepts, or less where that is known to fail.
std::optional<int> newest_gcc(const facts::Toolkit& toolkit);
// The compilers of the host that it takes, best first: g++ before clang++, the default one before
// the newest, those that are known to fail behind (nvcc 9.0 and 9.1 with g++ 6:
// pytorch/pytorch#8863).
std::vector<facts::Compiler> compilers_for(const facts::Toolkit& toolkit, const facts::Host& host);

// --- system -------------------------------------------------------------------------------------

// Whether the C library is glibc, which wheels for manylinux need. Unknown where its version is.
// No: the distribution is known to use musl.
Answer has_glibc(const facts::Host& host);
// A wheel's platform tag ("manylinux_2_28_x86_64", several joined by dots) on this host's glibc and
// processor.
Answer platform_fits(std::string_view tag, const facts::Host& host);

} // namespace cudaenv::knowledge
