// The driver and the GPUs it serves. Order of belief: NVML, asked by `cudaenv-probe --facts` in a
// child with a deadline; the kernel module's own files with the branch table; nvidia-smi.
// Law: no child is started on a machine that shows no sign of a driver.
#pragma once

#include "host/environment.hpp"
#include "host/file_system.hpp"
#include "host/process.hpp"
#include "solver/facts/host.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::host {

struct DriverSearch {
    std::string probe_path; // of cudaenv-probe; empty: do not ask NVML
    std::chrono::milliseconds deadline{3000};
};

struct DriverFindings {
    std::optional<facts::Driver> driver;
    std::string driver_absent;
    std::vector<facts::Gpu> gpus;
    std::string gpus_absent;
    std::vector<std::string> notes;
};
// Whether some GPU's device file is here: /dev/nvidia0 (any number: a container may be given
// another than the first), WSL's /dev/dxg, a Jetson's /dev/nvhost-gpu. /dev/nvidiactl says nothing:
// libcuda makes it for root where there is no GPU.
bool has_gpu_device(FileSystem& files);

DriverFindings find_driver(FileSystem& files, ProcessRunner& processes,
                           const Environment& environment, const DriverSearch& search);

} // namespace cudaenv::host
