#include "kernels/occupancy.hpp"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace cudaenv::kernels {

namespace {

// Of GPUs with 4 GiB and more 1 GiB, of smaller ones a quarter: what a context, the probe and the
// next step of whoever is there may take together; and more than a GPU without anybody on it has in
// use, since NVML hides the processes of other containers.
std::uint64_t large_part(const Occupancy& occupancy) {
    constexpr std::uint64_t k_gibibyte = std::uint64_t{1} << 30U;
    return occupancy.memory_total ? std::min(k_gibibyte, *occupancy.memory_total / 4) : k_gibibyte;
}

// Idle ones are at 0; a desktop that is drawn at a few.
constexpr unsigned k_most_idle_percent = 20;

Stop closed(const char* call, int error, std::string message) {
    return {.call = call, .error = error, .message = std::move(message)};
}

} // namespace

bool OccupancySource::open() {
    if (!m_is_open) {
        m_is_open = m_session.load() && m_session.start();
    }
    return *m_is_open;
}

Occupancy OccupancySource::of(const std::string& uuid) {
    Occupancy occupancy;
    NvmlDevice device = nullptr;
    if (uuid.empty() || !open()) {
        return occupancy;
    }
    Nvml& nvml = m_session.nvml();
    if (nvml.call("nvmlDeviceGetHandleByUUID", uuid.c_str(), &device) != k_success) {
        return occupancy;
    }
    NvmlMemory memory{};
    // Integrated GPUs have no memory of their own.
    if (nvml.call("nvmlDeviceGetMemoryInfo", device, &memory) == k_success && memory.total > 0 &&
        memory.free <= memory.total && memory.used <= memory.total) {
        occupancy.memory_free = memory.free;
        occupancy.memory_used = memory.used;
        occupancy.memory_total = memory.total;
    }
    if (const auto processes = running_processes(nvml, device, /*graphics=*/false)) {
        occupancy.computing = processes->size();
    }
    if (const auto processes = running_processes(nvml, device, /*graphics=*/true)) {
        occupancy.drawing = processes->size();
    }
    NvmlUtilization utilization{}; // MIG instances have none
    if (nvml.call("nvmlDeviceGetUtilizationRates", device, &utilization) == k_success &&
        utilization.gpu <= 100) {
        occupancy.percent = utilization.gpu;
    }
    return occupancy;
}

bool is_mps_here() {
    const char* pipe = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
    const std::string directory = pipe == nullptr || *pipe == '\0' ? "/tmp/nvidia-mps" : pipe;
    return ::access((directory + "/control").c_str(), F_OK) == 0;
}

MaybeStop left_alone(int compute_mode, const Occupancy& occupancy, bool is_mps) {
    constexpr int k_unavailable = 46;
    constexpr int k_out_of_memory = 2;
    constexpr const char* k_mode = "compute mode";
    if (compute_mode == k_prohibited) {
        return closed(k_mode, k_unavailable, "left alone: its compute mode is prohibited");
    }
    if (is_exclusive(compute_mode) && !is_mps) {
        if (!occupancy.computing) {
            Stop stop = closed(k_mode, k_unavailable,
                               "left alone: its compute mode is exclusive, and NVML does not say "
                               "whether a process is on it");
            stop.reason = facts::RungReason::HolderUnknown;
            return stop;
        }
        if (*occupancy.computing > 0 || occupancy.memory_used.value_or(0) > large_part(occupancy)) {
            return closed(k_mode, k_unavailable,
                          "left alone: its compute mode is exclusive, and another process is on "
                          "it");
        }
    }
    if (occupancy.memory_free && *occupancy.memory_free < large_part(occupancy)) {
        return closed("memory", k_out_of_memory,
                      "left alone: " + std::to_string(*occupancy.memory_free >> 20U) +
                          " MiB of its memory are free");
    }
    return std::nullopt;
}

std::string in_use(const Occupancy& occupancy) {
    if (const auto processes = occupancy.computing.value_or(0); processes > 0) {
        return processes == 1 ? "a process computes on it"
                              : std::to_string(processes) + " processes compute on it";
    }
    if (occupancy.percent.value_or(0) > k_most_idle_percent) {
        return "it is " + std::to_string(*occupancy.percent) + " % busy";
    }
    // A desktop's windows are no work that is disturbed.
    if (occupancy.drawing.value_or(0) == 0 &&
        occupancy.memory_used.value_or(0) > large_part(occupancy)) {
        return std::to_string(*occupancy.memory_used >> 20U) + " MiB of its memory are in use";
    }
    return {};
}

} // namespace cudaenv::kernels
