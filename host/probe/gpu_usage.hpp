// What the GPUs do just now, and whose processes those are: `cudaenv-probe --usage` read back, and
// /proc asked about each process.
#pragma once

#include "base/result.hpp"
#include "host/file_system.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::probe {

struct GpuProcess {
    int pid = 0;
    std::optional<std::uint64_t> memory; // bytes of this GPU's
    bool graphics = false;
    // Empty where /proc does not say: another user's process, another namespace's number.
    std::string user;        // name, or the number where /etc/passwd has none
    std::string command;     // "python train.py": no arguments, which may hold secrets
    std::string environment; // prefix of the conda or Python environment it runs in
};

struct GpuUsage {
    int index = 0;
    std::string name;
    std::string uuid;
    std::optional<std::uint64_t> memory_total; // bytes
    std::optional<std::uint64_t> memory_used;
    std::optional<int> utilization; // percent
    std::optional<int> temperature; // degrees Celsius
    std::optional<int> power;       // watts
    bool mig = false;
    bool lists_processes =
        false; // else NVML does not say which processes compute, which does not mean none
    std::vector<GpuProcess> processes;
};

struct UsageNow {
    std::string driver_version;
    std::vector<GpuUsage> gpus;
    std::vector<std::string> errors; // what NVML refused
    std::optional<int> start_error;  // NVML's number, where it did not start
};

// Pure; believes nothing. Error (Unavailable): "bad-probe-answer".
Result<UsageNow> read_gpu_usage(std::string_view line);

// Fills in what /proc says of the processes. NVML's numbers are those of the machine; in a
// container the same number may be somebody else: a process whose maps can be read and have no
// libcuda is left alone.
void identify_processes(host::FileSystem& files, UsageNow& usage);

} // namespace cudaenv::probe
