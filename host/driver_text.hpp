// What the driver's own texts say: /sys/module, /proc/driver/nvidia, nvidia-smi. Pure functions.
#pragma once

#include "base/dotted_version.hpp"
#include "solver/facts/host.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::host {

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

} // namespace cudaenv::host
