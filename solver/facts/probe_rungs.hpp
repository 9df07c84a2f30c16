// The rungs of the probe: one row each. Pure, header only: `cudaenv-probe`, cudaenvd and the client
// read the same table.
//
// A new rung is a row here and a file in kernels/rungs/ that defines its climb (rungs.hpp). A rung
// of a library needs nothing else: where it is searched for, its packages, its judgement and its
// line come from the row.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cudaenv::facts {

// In the order of k_rungs, which is the order in which they are climbed.
enum class ProbeStep {
    Library,    // libcuda is found and loaded
    Driver,     // cuInit, and the CUDA version of the driver
    Gpu,        // one visible device
    Runtime,    // the environment's own libcudart answers
    Memory,     // allocated and copied through that runtime
    Kernel,     // machine code runs and computes right
    Ptx,        // old PTX, which every driver accepts
    PtxRuntime, // PTX of the runtime's own CUDA version: the driver's ceiling
    Nvrtc,      // the environment's NVRTC compiles, and the driver runs it
    Cublas,
    Cudnn,
    Nccl,
    Build,          // the chosen nvcc and host compiler
    TorchExtension, // an extension for the environment's torch
};

// What a rung tries, and so what is at fault where it fails.
enum class RungSubject {
    Driver,  // the driver's answers; nothing runs on a GPU
    Gpu,     // the probe's own code on a GPU
    Library, // a library of the environment
    Built,   // a program that cudaenvd builds and starts
};

// On which GPUs a rung is climbed.
enum class RungReach {
    Machine,  // on none in particular
    EachGpu,  // on each GPU that the rungs before it reached
    Together, // on all of them at once, where there are several
};

// Which probe climbs a rung. Every later rung rests on the quick ones; the others stand alone.
enum class RungDepth { Quick, Full, Build };

// Which number a library's soname begins with.
enum class SonameNumber {
    Cuda,    // the environment's CUDA
    Carried, // that of the copy in the environment; an older one on LD_LIBRARY_PATH does not
             // replace it
    Newest,  // there has been only one
};

// A library of the environment that a rung loads.
struct ProbedLibrary {
    std::string_view word; // in requests: "cudart"
    std::string_view name; // for people
    std::string_view file; // libcudart of libcudart.so.13
    SonameNumber number = SonameNumber::Cuda;
    std::string_view numbers; // in sonames, of every release since CUDA 9.0, newest first
    std::string_view pip;     // its package, without -cuNN
    std::string_view conda;
    bool of_toolkit = false; // released with CUDA itself
    bool heavy = false;      // takes some hundred MB beside the context, or several GPUs at once
};

struct RungRow {
    ProbeStep step;
    std::string_view word; // in JSON
    RungSubject subject;
    RungReach reach = RungReach::Machine;
    RungDepth depth = RungDepth::Quick;
    bool of_machine = false;    // rests on the machine alone: it fails in every environment
    std::string_view runs = {}; // what it runs on the GPU
    std::string_view done = {}; // its line where it succeeds; empty: kernels/judge/judge_rung.cpp
    ProbedLibrary library = {}; // of RungSubject::Library
};

inline constexpr std::string_view k_own_kernel = "a kernel that is known to be correct";
inline constexpr std::string_view k_library_kernel = "a kernel of that library";
inline constexpr std::string_view k_built_program = "the built program";

inline constexpr std::array k_rungs = std::to_array<RungRow>({
    {.step = ProbeStep::Library,
     .word = "library",
     .subject = RungSubject::Driver,
     .of_machine = true},
    {.step = ProbeStep::Driver,
     .word = "driver",
     .subject = RungSubject::Driver,
     .of_machine = true},
    {.step = ProbeStep::Gpu, .word = "gpu", .subject = RungSubject::Driver, .of_machine = true},
    {.step = ProbeStep::Runtime,
     .word = "runtime",
     .subject = RungSubject::Library,
     .library = {.word = "cudart",
                 .name = "the CUDA runtime",
                 .file = "libcudart",
                 .numbers = "13 12 11.0 10.2 10.1 10.0 9.2 9.1 9.0",
                 .pip = "nvidia-cuda-runtime",
                 .conda = "cuda-cudart",
                 .of_toolkit = true}},
    {.step = ProbeStep::Memory,
     .word = "memory",
     .subject = RungSubject::Gpu,
     .reach = RungReach::EachGpu,
     .of_machine = true,
     .runs = "copying 2 MiB",
     .done = "allocate, copy, compare"},
    {.step = ProbeStep::Kernel,
     .word = "kernel",
     .subject = RungSubject::Gpu,
     .reach = RungReach::EachGpu,
     .of_machine = true,
     .runs = k_own_kernel},
    {.step = ProbeStep::Ptx,
     .word = "ptx",
     .subject = RungSubject::Gpu,
     .reach = RungReach::EachGpu,
     .depth = RungDepth::Full,
     .of_machine = true,
     .runs = k_own_kernel},
    {.step = ProbeStep::PtxRuntime,
     .word = "ptx-runtime",
     .subject = RungSubject::Gpu,
     .reach = RungReach::EachGpu,
     .depth = RungDepth::Full,
     .runs = k_own_kernel},
    {.step = ProbeStep::Nvrtc,
     .word = "nvrtc",
     .subject = RungSubject::Library,
     .reach = RungReach::EachGpu,
     .depth = RungDepth::Full,
     .runs = k_own_kernel,
     .done = "compiles, and the driver runs it",
     .library = {.word = "nvrtc",
                 .name = "NVRTC",
                 .file = "libnvrtc",
                 .numbers = "13 12 11.2 11.1 11.0 10.2 10.1 10.0 9.2 9.1 9.0",
                 .pip = "nvidia-cuda-nvrtc",
                 .conda = "cuda-nvrtc",
                 .of_toolkit = true}},
    {.step = ProbeStep::Cublas,
     .word = "cublas",
     .subject = RungSubject::Library,
     .reach = RungReach::EachGpu,
     .depth = RungDepth::Full,
     .runs = k_library_kernel,
     .done = "products correct",
     .library = {.word = "cublas",
                 .name = "cuBLAS",
                 .file = "libcublas",
                 .numbers = "13 12 11 10 10.0 9.2 9.1 9.0",
                 .pip = "nvidia-cublas",
                 .conda = "libcublas",
                 .of_toolkit = true,
                 .heavy = true}},
    {.step = ProbeStep::Cudnn,
     .word = "cudnn",
     .subject = RungSubject::Library,
     .reach = RungReach::EachGpu,
     .depth = RungDepth::Full,
     .runs = k_library_kernel,
     .done = "convolution correct",
     .library = {.word = "cudnn",
                 .name = "cuDNN",
                 .file = "libcudnn",
                 .number = SonameNumber::Carried,
                 .numbers = "9 8 7",
                 .pip = "nvidia-cudnn",
                 .conda = "cudnn",
                 .heavy = true}},
    {.step = ProbeStep::Nccl,
     .word = "nccl",
     .subject = RungSubject::Library,
     .reach = RungReach::Together,
     .depth = RungDepth::Full,
     .runs = k_library_kernel,
     .done = "sums correct",
     .library = {.word = "nccl",
                 .name = "NCCL",
                 .file = "libnccl",
                 .number = SonameNumber::Newest,
                 .numbers = "2",
                 .pip = "nvidia-nccl",
                 .conda = "nccl",
                 .heavy = true}},
    {.step = ProbeStep::Build,
     .word = "build",
     .subject = RungSubject::Built,
     .depth = RungDepth::Build,
     .runs = k_built_program,
     .done = "compiles, links, runs"},
    {.step = ProbeStep::TorchExtension,
     .word = "torch-extension",
     .subject = RungSubject::Built,
     .depth = RungDepth::Build,
     .runs = k_built_program,
     .done = "an extension for this torch builds and runs"},
});

constexpr bool has_a_row_for_each_step() {
    for (std::size_t i = 0; i < k_rungs.size(); ++i) {
        if (k_rungs[i].step != static_cast<ProbeStep>(i)) {
            return false;
        }
    }
    return k_rungs.size() == static_cast<std::size_t>(ProbeStep::TorchExtension) + 1;
}
static_assert(has_a_row_for_each_step());

constexpr const RungRow& row_of(ProbeStep step) {
    return k_rungs[static_cast<std::size_t>(step)];
}
constexpr std::string_view word_of(ProbeStep step) {
    return row_of(step).word;
}
constexpr std::optional<ProbeStep> step_of_word(std::string_view word) {
    const auto* const found = std::ranges::find(k_rungs, word, &RungRow::word);
    return found == k_rungs.end() ? std::nullopt : std::optional(found->step);
}

// That row and the later ones.
constexpr std::span<const RungRow> rungs_from(ProbeStep step) {
    return std::span(k_rungs).subspan(static_cast<std::size_t>(step));
}

constexpr bool is_library(ProbeStep step) {
    return row_of(step).subject == RungSubject::Library;
}
constexpr bool is_built(ProbeStep step) {
    return row_of(step).subject == RungSubject::Built;
}
constexpr bool is_quick(ProbeStep step) {
    return row_of(step).depth == RungDepth::Quick;
}
// The library of a step; null where it loads none.
constexpr const ProbedLibrary* probed_library(ProbeStep step) {
    return is_library(step) ? &row_of(step).library : nullptr;
}

// The rows of libraries, in their order.
inline constexpr auto k_library_rungs = [] {
    std::array<RungRow, std::ranges::count(k_rungs, RungSubject::Library, &RungRow::subject)>
        rows{};
    std::ranges::copy_if(k_rungs, rows.begin(),
                         [](const RungRow& rung) { return is_library(rung.step); });
    return rows;
}();

// By its word: a rung that the full ladder climbs and the quick one does not. False of an unknown
// word.
constexpr bool is_beyond_quick(std::string_view word) {
    const auto step = step_of_word(word);
    return step && !is_quick(*step);
}

// For people: "PTX, NVRTC, cuBLAS, ...".
inline std::string names_of_full_rungs() {
    std::string names = "PTX";
    for (const RungRow& rung : k_library_rungs) {
        names += is_quick(rung.step) ? std::string() : ", " + std::string(rung.library.name);
    }
    return names;
}

} // namespace cudaenv::facts
