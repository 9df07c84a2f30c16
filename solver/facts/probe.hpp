// What `cudaenv-probe --ladder` saw: one entry for each rung of the ladder and GPU, as it was
// reported and not yet judged (kernels/judge does that). Pure data.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"
#include "solver/facts/probe_rungs.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::facts {

// Why a rung ended as it did, where somebody has to act on that; its message says it to people.
enum class RungReason {
    None,
    Absent,        // skipped: the library was not found
    Busy,          // gpu, ok: another process uses it
    HolderUnknown, // memory, failed: exclusive mode, and NVML does not say which process is on it
    CutShort,      // the file is shorter than its headers say; the message names it and its sizes
    BrokenLink,    // library: a link leads nowhere; the message names it and its target
    ForcedPtx,     // kernel, ok: CUDA_FORCE_PTX_JIT is set, so PTX ran
    CpuBuild,      // torch-extension, skipped: torch is a build without CUDA
};
// The words of JSON, in the same order; none for None.
inline constexpr std::array k_rung_reasons =
    std::to_array<std::string_view>({"", "absent", "busy", "holder-unknown", "cut-short",
                                     "broken-link", "forced-ptx", "cpu-build"});
static_assert(k_rung_reasons.size() == static_cast<std::size_t>(RungReason::CpuBuild) + 1);
constexpr std::string_view word_of(RungReason reason) {
    return k_rung_reasons[static_cast<std::size_t>(reason)];
}

// `call` of a build rung that failed. The build directory cannot be written; the message names the
// place and the reason.
inline constexpr std::string_view k_write_call = "write";
// This nvcc fails on any source; the message names it, how it ended, and its last words.
inline constexpr std::string_view k_nvcc_call = "nvcc itself";
// A directory in which no nvcc works; the message gives the reason and the directory.
inline constexpr std::string_view k_place_call = "temporary directory";
// The built program ended without the line in which it reports its result.
inline constexpr std::string_view k_program_call = "the program";
// torch cannot be imported; the message is Python's.
inline constexpr std::string_view k_import_call = "import torch";

enum class ProbeResult {
    Ok,
    Failed,     // a call refused: `call`, `error`
    Wrong,      // it ran, and what it computed is not what the CPU computes: `message`
    Skipped,    // not tried: `message` says why
    Unfinished, // begun and not ended: the child hung or died there
};

struct ProbeRung {
    ProbeStep step = ProbeStep::Library;
    std::optional<int> gpu; // the driver's ordinal among the visible ones; none: not of one GPU
    ProbeResult result = ProbeResult::Ok;
    std::string call;         // "cuInit", "dlopen", "cudnnCreate"
    std::optional<int> error; // the number that it returned
    std::string error_name;   // "CUDA_ERROR_NO_DEVICE", where the library itself could say
    std::string message;      // the loader's, NVRTC's, a compiler's words; at most 4 KiB
    std::string cause;        // of a build: the line of it that names the error; empty: unknown
    RungReason reason = RungReason::None;
    std::string broken; // CutShort, BrokenLink: the file at fault, which another may need
    double took_ms = 0;

    // What was seen on the way; empty where it was not.
    std::string path;                     // the library that was mapped, links followed
    std::string part;                     // a part of it that was mapped from another directory
    std::string found_by;                 // libcuda: "loader", "wsl" (its own directory),
                                          // "linker-name" (libcuda.so); empty: unknown
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
    bool is_stuck = false;     // TimedOut: killed, and it does not end: stuck in the kernel
    // Real paths of CUDA's libraries that were mapped into the child, those that another one opened
    // among them; sorted. Empty where it did not finish.
    std::vector<std::string> loaded;
    std::string failure; // why the answer is incomplete, in a few words
    // The end of what it wrote on standard error: lines as they came, but for secrets of URLs; at
    // most 4 KiB. The libraries' own words are among them (cuDNN's before it aborts).
    std::string words;
};

// A library or device file that exists and that this user may not open, or a directory that this
// user may not search: its contents are unknown.
struct ClosedFile {
    std::string path;
    std::string owner; // names, or numbers that have none
    std::string group;
    unsigned mode = 0; // permission bits
    bool own = false;  // it is this user's
    bool is_directory = false;
    // This library would have been loaded if it could be read.
    bool was_passed_over = false;
};

} // namespace cudaenv::facts
