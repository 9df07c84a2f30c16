// The driver and the GPUs it serves. Order of belief: NVML, asked by `cudaenv-probe --facts` in a
// child with a deadline; the kernel module's own files with the branch table; nvidia-smi.
// Law: no child is started on a machine that shows no sign of a driver.
#pragma once

#include "base/dotted_version.hpp"
#include "base/result.hpp"
#include "host/environment.hpp"
#include "host/file_system.hpp"
#include "host/process.hpp"
#include "solver/facts/host.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
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

// What the driver's own texts say: /sys/module, /proc/driver/nvidia, nvidia-smi. Pure functions.
struct KernelModule {
    std::optional<DottedVersion> version;
    std::optional<facts::DriverKind> kind;
};
// /proc/driver/nvidia/version, in the proprietary and the open module's wording.
KernelModule parse_proc_version(std::string_view text);
// /sys/module/nvidia/version: the version alone.
std::optional<DottedVersion> parse_module_version(std::string_view text);

struct GpuInformation {
    std::string model;
    std::string uuid;         // empty where the driver does not tell it to this user
    std::string bus_location; // 0000:01:00.0
};
// /proc/driver/nvidia/gpus/*/information.
GpuInformation parse_gpu_information(std::string_view text);

// nvidia-smi's header, before and after driver 610 renamed its words.
struct SmiHeader {
    std::optional<DottedVersion> driver;
    std::optional<DottedVersion> cuda;
};
SmiHeader parse_nvidia_smi(std::string_view text);

// What `cudaenv-probe --facts` prints, read back. Pure; it believes nothing: a value that is not
// plausible is left out and reported as an error of the probe.
struct ProbeFacts {
    std::optional<DottedVersion> driver_version;
    std::optional<DottedVersion> cuda;
    std::vector<facts::Gpu> gpus; // source "NVML"
    std::vector<std::string> errors;
};
// Error: "bad-probe-answer".
Result<ProbeFacts> parse_probe_facts(std::string_view line);

} // namespace cudaenv::host
