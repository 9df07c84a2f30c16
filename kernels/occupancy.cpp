#include "kernels/occupancy.hpp"

#include "kernels/nvml_processes.hpp"

#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace cudaenv::kernels {

namespace {

constexpr std::uint64_t k_gibibyte = std::uint64_t{1} << 30U;
// What a context, the probe and the next step of whoever is there may take together.
constexpr std::uint64_t k_least_free = k_gibibyte;
// More than a GPU without anybody on it has in use: NVML hides the processes of other containers.
constexpr std::uint64_t k_most_idle = k_gibibyte;

Stop closed(const char* call, int error, std::string message) {
    Stop stop;
    stop.call = call;
    stop.error = error;
    stop.message = std::move(message);
    return stop;
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
    // Integrated GPUs have no memory of their own to tell.
    if (nvml.call("nvmlDeviceGetMemoryInfo", device, &memory) == k_success && memory.total > 0 &&
        memory.free <= memory.total && memory.used <= memory.total) {
        occupancy.memory_free = memory.free;
        occupancy.memory_used = memory.used;
    }
    if (const auto processes = running_processes(nvml, device, /*graphics=*/false)) {
        occupancy.computing = processes->size();
    }
    return occupancy;
}

bool is_mps_here() {
    const char* told = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
    const std::string directory = told == nullptr || *told == '\0' ? "/tmp/nvidia-mps" : told;
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
            return closed(k_mode, k_unavailable,
                          "left alone: its compute mode is exclusive, and NVML does not tell "
                          "whether a process is on it");
        }
        if (*occupancy.computing > 0 || occupancy.memory_used.value_or(0) > k_most_idle) {
            return closed(k_mode, k_unavailable,
                          "left alone: its compute mode is exclusive, and another process is on "
                          "it");
        }
    }
    if (occupancy.memory_free && *occupancy.memory_free < k_least_free) {
        return closed("memory", k_out_of_memory,
                      "left alone: " + std::to_string(*occupancy.memory_free >> 20U) +
                          " MiB of its memory are free");
    }
    return std::nullopt;
}

} // namespace cudaenv::kernels
