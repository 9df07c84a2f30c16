#include "kernels/nvml_processes.hpp"

#include <string>

namespace cudaenv::kernels {

namespace {

struct ProcessInfo { // of the _v2 and _v3 calls (drivers from 450 on)
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance;
    unsigned compute_instance;
};
struct OldProcessInfo {
    unsigned pid;
    unsigned long long used_memory;
};

constexpr int k_too_small = 7;
constexpr unsigned k_most_processes = 4096;

using Processes = std::optional<std::vector<NvmlProcess>>;

// False: the driver has no such call.
template <typename Info>
bool ask(Nvml& nvml, const std::string& name, NvmlDevice device, Processes& processes) {
    std::vector<Info> infos(64);
    unsigned count = 0;
    std::optional<int> code;
    // Processes come and go between two calls.
    for (int tries = 0; tries < 4; ++tries) {
        count = static_cast<unsigned>(infos.size());
        code = nvml.call(name.c_str(), device, &count, infos.data());
        if (code != k_too_small || count > k_most_processes) {
            break;
        }
        infos.resize(count + 16);
    }
    if (!code) {
        return false;
    }
    if (*code == k_success && count <= infos.size()) {
        infos.resize(count);
        processes.emplace();
        for (const Info& info : infos) {
            auto& process = processes->emplace_back();
            process.pid = info.pid;
            if (info.used_memory != ~0ULL) {
                process.memory = info.used_memory;
            }
        }
    }
    return true;
}

} // namespace

Processes running_processes(Nvml& nvml, NvmlDevice device, bool graphics) {
    const std::string name =
        graphics ? "nvmlDeviceGetGraphicsRunningProcesses" : "nvmlDeviceGetComputeRunningProcesses";
    Processes processes;
    // _v2 has had entries of 24 bytes in every driver since 450; those of _v3 were 32 bytes in the
    // first drivers of 535.
    if (!ask<ProcessInfo>(nvml, name + "_v2", device, processes) &&
        !ask<ProcessInfo>(nvml, name + "_v3", device, processes)) {
        ask<OldProcessInfo>(nvml, name, device, processes);
    }
    return processes;
}

} // namespace cudaenv::kernels
