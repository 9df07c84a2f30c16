// An error number of CUDA's that has no explanation of its own: what its neighbours mean. The
// driver and the runtime number alike since CUDA 10.1 (cuda.h, driver_types.h), by hundreds.
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::plan::probe {

namespace {

struct Family {
    int first;
    int last;
    std::string_view meaning;
    const char* advice;
    const char* command;
};

constexpr const char* k_look = "look at what the kernel says of this time";
constexpr const char* k_dmesg = "sudo dmesg | grep -iE 'xid|nvrm' | tail";
constexpr const char* k_mixed = "have driver and CUDA's libraries of versions that go together";

// The narrower ones first.
constexpr auto k_families = std::to_array<Family>({
    {102, 103, "this GPU is not licensed for CUDA, as a virtual one (vGPU) has to be",
     "have its licence seen to by whoever runs this machine", "nvidia-smi -q | grep -i licen"},
    {216, 216, "the GPU's context is in use by another thread or process", k_look, "nvidia-smi"},
    {217, 217, "two GPUs do not reach each other's memory", "see how the GPUs are joined",
     "nvidia-smi topo -m"},
    {226, 226, "the GPU met an error of its memory, and kept it from other processes",
     "see its errors of memory, and Xid lines of this time",
     "nvidia-smi -q -d ECC,ROW_REMAPPER; sudo dmesg | grep -i xid"},
    {800, 800, "the operation is not permitted: to this user, in this container or virtual machine",
     "see what this GPU allows: MIG, MPS, its virtualization", "nvidia-smi -q"},
    {801, 801, "the operation is not supported by this GPU or system",
     "see what this GPU allows: MIG, MPS, its virtualization", "nvidia-smi -q"},
    {810, 810, "the MPS server ended this process's work", "ask whoever runs MPS here",
     "nvidia-smi"},
    {1, 99, "a call was given a value or a state that it does not take", k_mixed, "cudaenv status"},
    {100, 199, "the GPU is not one that the call can use", k_look, "nvidia-smi"},
    {200, 299, "code was not loaded, or a context or a mapping of memory was refused", k_look,
     k_dmesg},
    {300, 399, "a file or a function was not found, or did not load", k_mixed,
     "ldconfig -p | grep -E 'libcuda|libnvidia'"},
    {400, 499, "a handle or a state is none of this driver's, or not any more", k_mixed,
     "cudaenv status"},
    {500, 599, "what was asked for by its name is not there", k_mixed, "cudaenv status"},
    {600, 699, "it was asked for before it was ready", k_look, k_dmesg},
    {700, 799, "a kernel was not launched, or broke; what comes after it in that process fails too",
     "compute-sanitizer names what a program did; Xid lines of this time what the GPU met",
     k_dmesg},
    {800, 899, "the system around the GPU does not do what was asked: MPS, or how it is set up",
     k_look, k_dmesg},
    {900, 998, "calls came in an order that streams, graphs or devices do not allow", k_mixed,
     "cudaenv status"},
});

constexpr Family k_unknown{0, 0, "newer than what is known here", k_look, k_dmesg};

const Family& family_of(int error) {
    const auto* const found =
        std::find_if(k_families.begin(), k_families.end(), [&](const Family& family) {
            return family.first <= error && error <= family.last;
        });
    return found == k_families.end() ? k_unknown : *found;
}

std::string who_answered(const facts::ProbeRung& rung) {
    const auto* const library = facts::probed_library(rung.step);
    if (rung.call.starts_with("cuda")) {
        return "the CUDA runtime";
    }
    if (library != nullptr && !rung.call.starts_with("cu")) {
        return std::string(library->name);
    }
    return rung.step >= facts::ProbeStep::Build ? "what was built" : "the driver";
}

} // namespace

Finding explain_by_family(const facts::ProbeRung& rung, int error) {
    const Family& family = family_of(error);
    std::string cause = fmt::format(
        "{} answered{} {}{}: {}", who_answered(rung),
        rung.call.empty() ? "" : " " + one_line(rung.call, 40) + " with",
        rung.error.value_or(error),
        rung.error_name.empty() ? "" : ", " + one_line(rung.error_name, 48), family.meaning);
    if (!rung.message.empty()) {
        cause += "; it said: " + one_line(rung.message, 120);
    }
    // Nobody knows what would show that it was put right.
    return of_the_moment(
        failure(k_unexplained.data(), refusal(rung), std::move(cause),
                StepFix{fmt::format("{}; where that tells nothing, report it with what cudaenv "
                                    "probe --full --json says",
                                    family.advice),
                        family.command}));
}

} // namespace cudaenv::plan::probe
