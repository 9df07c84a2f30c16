// A GPU that is somebody else's for now: what CUDA says of it (46, 2), and the ones that were left
// alone without a call. Both are told with the same words.
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

namespace cudaenv::plan::probe {

namespace {

constexpr std::string_view k_left_alone = "left alone";

Finding busy(const char* code, std::string detail, std::string cause, StepFix fix) {
    return failure(code, std::move(detail), std::move(cause), std::move(fix), ProbeVerdict::Busy);
}

const facts::ProbeRung* gpu_rung(const Scene& scene, std::optional<int> ordinal) {
    const auto found = scene.gpus.find(ordinal.value_or(0));
    return found == scene.gpus.end() ? nullptr : found->second;
}

int compute_mode(const Scene& scene, const facts::ProbeRung& rung) {
    const facts::ProbeRung* const gpu = gpu_rung(scene, rung.gpu);
    return rung.compute_mode ? *rung.compute_mode
           : gpu != nullptr  ? gpu->compute_mode.value_or(0)
                             : 0;
}

// `seen`: the call that was refused; empty where there was none.
Finding prohibited(const Scene& scene, const facts::ProbeRung& rung, std::string_view seen) {
    return busy("CE316",
                fmt::format("{}{}{} lets nobody in (compute mode prohibited)", seen,
                            seen.empty() ? "" : ": ", scene.gpu(rung.gpu)),
                "its administrator set it so; another GPU may be free",
                {"take another GPU, or ask whoever runs this machine",
                 "nvidia-smi --query-gpu=index,compute_mode --format=csv"});
}

enum class Held { Certainly, Maybe };

Finding exclusive(const Scene& scene, const facts::ProbeRung& rung, std::string_view seen,
                  Held held = Held::Certainly) {
    const bool is_certain = held == Held::Certainly;
    return busy("CE316",
                fmt::format("{}: {} {} held by another process", seen, scene.gpu(rung.gpu),
                            is_certain ? "is" : "may be"),
                is_certain ? "its compute mode is exclusive: one process at a time"
                           : "its compute mode is exclusive, one process at a time, and NVML does "
                             "not tell who is on it",
                {"wait for that process, or take another GPU", "nvidia-smi"});
}

// What was free on that GPU: as this rung saw it, or the rung of its memory before.
std::optional<std::uint64_t> free_memory(const Scene& scene, const facts::ProbeRung& rung) {
    if (rung.memory_free) {
        return rung.memory_free;
    }
    for (const facts::ProbeRung& one : scene.report->rungs) {
        if (one.step == facts::ProbeStep::Memory && one.gpu == rung.gpu && one.memory_free) {
            return one.memory_free;
        }
    }
    const facts::ProbeRung* const gpu = gpu_rung(scene, rung.gpu);
    return gpu != nullptr ? gpu->memory_free : std::nullopt; // NVML's, before there was a context
}

constexpr std::uint64_t k_mebibyte = 1024 * 1024;

std::string memory_detail(const Scene& scene, const facts::ProbeRung& rung, std::string_view seen,
                          std::string_view words) {
    const auto free = free_memory(scene, rung);
    return fmt::format("{}: {} {}{}", seen, scene.gpu(rung.gpu), words,
                       free ? fmt::format(" ({} MiB free)", *free / k_mebibyte) : std::string());
}

} // namespace

bool is_left_alone(const facts::ProbeRung& rung) {
    return rung.step == facts::ProbeStep::Memory &&
           (rung.call == k_compute_mode || rung.call == k_full);
}

Finding explain_left_alone(const Scene& scene, const facts::ProbeRung& rung) {
    if (rung.call == k_full) {
        return busy("CE317", memory_detail(scene, rung, k_left_alone, "has no memory left"),
                    "other processes fill it, and a context of some hundred MB could end one of "
                    "them",
                    {"see who uses it", "nvidia-smi"});
    }
    if (compute_mode(scene, rung) == 2) {
        return prohibited(scene, rung, {});
    }
    return exclusive(scene, rung, k_left_alone,
                     contains(rung.message, "does not tell") ? Held::Maybe : Held::Certainly);
}

Finding explain_unavailable(const Scene& scene, const facts::ProbeRung& rung) {
    const std::string seen = refusal(rung);
    const int mode = compute_mode(scene, rung);
    if (mode == 2) {
        return prohibited(scene, rung, rung.call.empty() ? std::string_view() : seen);
    }
    if (mode == 1 || mode == 3) {
        return exclusive(scene, rung, seen);
    }
    return busy("CE316",
                fmt::format("{}: {} is in use or closed to you", seen, scene.gpu(rung.gpu)),
                "another process holds it, or it was left in a bad state",
                {"see who uses it", "nvidia-smi"});
}

Finding explain_no_memory(const Scene& scene, const facts::ProbeRung& rung) {
    const auto free = free_memory(scene, rung);
    // A context takes some hundred MB; with more than that left it is not other processes.
    if (free && *free > 1024 * k_mebibyte) {
        return busy("CE317", memory_detail(scene, rung, refusal(rung), "gives no memory"),
                    "a limit is in the way: of MPS, of a job or cgroup, or ulimit -v",
                    {"see which limits this shell has", "ulimit -a"});
    }
    return busy("CE317", memory_detail(scene, rung, refusal(rung), "has no memory left"),
                "other processes fill it; the probe needs a few MB and a context of some hundred",
                {"see who uses it", "nvidia-smi"});
}

} // namespace cudaenv::plan::probe
