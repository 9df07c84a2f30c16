// What `cudaenv-probe --ladder` saw: one entry for each rung of the ladder and GPU, as it was
// reported and not yet judged (solver/plan/probe does that). Pure data.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::facts {

// In the order in which they are climbed. A rung that fails ends the ladder where what comes later
// rests on it.
enum class ProbeStep {
    Library,    // libcuda is found and loaded
    Driver,     // cuInit, and the CUDA version that the driver gives
    Gpu,        // one visible device
    Runtime,    // the environment's own libcudart answers
    Memory,     // allocated and copied through that runtime
    Kernel,     // machine code runs and computes right; --quick ends here
    Ptx,        // old PTX, which every driver takes
    PtxRuntime, // PTX of the runtime's own CUDA version: the driver's ceiling
    Nvrtc,      // the environment's NVRTC compiles, and the driver runs it
    Cublas,
    Cudnn,
    Nccl,
    Build,          // the chosen nvcc and host compiler
    TorchExtension, // an extension for the environment's torch
};

// The words of JSON, in the same order.
inline constexpr std::array k_probe_steps = std::to_array<std::string_view>(
    {"library", "driver", "gpu", "runtime", "memory", "kernel", "ptx", "ptx-runtime", "nvrtc",
     "cublas", "cudnn", "nccl", "build", "torch-extension"});
static_assert(k_probe_steps.size() == static_cast<std::size_t>(ProbeStep::TorchExtension) + 1);

// On which GPUs a library's rung is climbed.
enum class RungReach {
    Machine,  // on none in particular
    EachGpu,  // on each that got so far
    Together, // on all of them at once, where there are several
};

// The environment's own libraries, the only list of them but that of what climbs them
// (kernels/ladder.cpp, which may not see this one; a test compares). Tables that say more of each
// (where they are looked for, their packages) are checked against it where they are compiled.
struct ProbedLibrary {
    ProbeStep step;
    std::string_view word; // in requests: "cudart"
    std::string_view name; // for people
    std::string_view file; // libcudart of libcudart.so.13
    RungReach reach;
};
inline constexpr std::array k_probed_libraries = std::to_array<ProbedLibrary>({
    {ProbeStep::Runtime, "cudart", "the CUDA runtime", "libcudart", RungReach::Machine},
    {ProbeStep::Nvrtc, "nvrtc", "NVRTC", "libnvrtc", RungReach::EachGpu},
    {ProbeStep::Cublas, "cublas", "cuBLAS", "libcublas", RungReach::EachGpu},
    {ProbeStep::Cudnn, "cudnn", "cuDNN", "libcudnn", RungReach::EachGpu},
    {ProbeStep::Nccl, "nccl", "NCCL", "libnccl", RungReach::Together},
});
// That of a step; null where none is opened for it.
constexpr const ProbedLibrary* probed_library(ProbeStep step) {
    for (const ProbedLibrary& library : k_probed_libraries) {
        if (library.step == step) {
            return &library;
        }
    }
    return nullptr;
}
// Whether a table with a `step` in each row has one for each library, in their order.
template <typename Table>
constexpr bool is_of_probed_libraries(const Table& table) {
    return std::ranges::equal(
        table, k_probed_libraries, {}, [](const auto& row) { return row.step; },
        &ProbedLibrary::step);
}
// The last rung that `cudaenv-probe --ladder` climbs; what comes later is built by cudaenvd.
inline constexpr ProbeStep k_last_of_ladder = k_probed_libraries.back().step;
static_assert(static_cast<int>(k_last_of_ladder) + 1 == static_cast<int>(ProbeStep::Build) &&
                  static_cast<int>(k_last_of_ladder) - static_cast<int>(ProbeStep::PtxRuntime) +
                          1 ==
                      static_cast<int>(k_probed_libraries.size()) &&
                  std::ranges::is_sorted(k_probed_libraries, {}, &ProbedLibrary::step),
              "every step between PtxRuntime and Build is a library's");

// Words of a report that mean something: the judge and cudaenvd read them (docs/probe.md). The
// probe itself may not see this file (a test compares).

// A GPU on which somebody works: its rung's message begins so.
inline constexpr std::string_view k_busy = "busy: ";
// `call` of a build's rung that failed. Nothing can be written where things are built: the message
// is the place and why.
inline constexpr std::string_view k_write_call = "write";
// This nvcc does not work, whatever it compiles: which, how it ended, its last words.
inline constexpr std::string_view k_nvcc_call = "nvcc itself";
// A place in which no nvcc works: the message is why, and the place.
inline constexpr std::string_view k_place_call = "temporary directory";
// What was built ended in another way than it says itself.
inline constexpr std::string_view k_program_call = "the program";
// torch is not imported: the message is Python's words.
inline constexpr std::string_view k_import_call = "import torch";

enum class ProbeResult {
    Ok,
    Failed,     // a call refused: `call`, `error`
    Wrong,      // it ran, and what it computed is not what the CPU computes: `message`
    Skipped,    // not tried: `message` says why
    Unfinished, // begun and never ended: the child hung or died there
};

struct ProbeRung {
    ProbeStep step = ProbeStep::Library;
    std::optional<int> gpu; // the driver's ordinal among the visible ones; none: of no one GPU
    ProbeResult result = ProbeResult::Ok;
    std::string call;         // "cuInit", "dlopen", "cudnnCreate"
    std::optional<int> error; // the number that it returned
    std::string error_name;   // "CUDA_ERROR_NO_DEVICE", where the library itself could say
    std::string message;      // the loader's, NVRTC's, a compiler's words; at most 4 KiB
    double took_ms = 0;

    // What was seen on the way; empty where it was not.
    std::string path;                     // the library that was loaded, links followed
    std::string found_by;                 // libcuda: "loader", "wsl" (its own directory),
                                          // "linker-name" (libcuda.so); empty: not told
    std::optional<DottedVersion> version; // of that library; of the runtime: 13.0
    std::optional<DottedVersion> cuda;    // driver: the CUDA it gives; cudnn: CUDA it was built for
    std::optional<DottedVersion> isa;     // PTX ISA, 6.0
    std::string architecture;             // kernel: "sm_90", or "compute_50" where it came from PTX
    std::string name;                     // gpu: "NVIDIA H200"
    std::string uuid;                     // gpu: GPU-..., MIG-... of an instance
    std::optional<ComputeCapability> compute_capability;
    std::optional<std::uint64_t> memory_total; // bytes
    std::optional<std::uint64_t> memory_free;  // bytes
    std::optional<int> compute_mode;           // 0 default, 2 prohibited, 3 exclusive process
    bool mig = false;
    std::optional<int> devices;      // driver, runtime, nccl: how many
    std::vector<std::string> checks; // kernel: "global", "shared", "atomics", "shuffle",
                                     // "tensor-fp16", "tensor-bf16", "tensor-tf32"
};

struct ProbeReport {
    std::vector<ProbeRung> rungs; // as they ended
    enum class Ending {
        Finished,
        TimedOut,
        Crashed,
        NotStarted,
        Garbled
    } ending = Ending::Finished;
    std::optional<int> signal; // Crashed
    // Real paths of CUDA's libraries that were mapped into the child, those that another one opened
    // among them; sorted. Empty where it did not finish.
    std::vector<std::string> loaded;
    std::string failure; // why there is no whole answer, in a few words
    // The end of what it wrote on standard error: lines as they came, but for secrets of URLs; at
    // most 4 KiB. The libraries' own words are among them (cuDNN's before it aborts).
    std::string words;
};

// A library or device file that is there and that this user may not open, or a directory in which
// it may not look for one: what it holds is not known.
struct ClosedFile {
    std::string path;
    std::string owner; // names, or numbers that have none
    std::string group;
    unsigned mode = 0; // permission bits
    bool own = false;  // it is this user's
    bool is_directory = false;
    // A library that would have been the one to take but for this.
    bool was_passed_over = false;
};

} // namespace cudaenv::facts
