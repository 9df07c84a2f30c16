// The driver as its files show it, without opening it: whether a kernel module is loaded, and
// whether libcuda on disk is still of its version (an upgrade under a running system leaves the old
// module loaded, and CUDA fails until a reboot).
//
// Law: a few files are looked at where a module is loaded, one where none is. Of several libcudas
// one that fits the module is enough.
#pragma once

#include "base/dotted_version.hpp"
#include "host/file_system.hpp"
#include "host/process.hpp"
#include "solver/facts/host.hpp"
#include "solver/facts/probe.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudaenv::probe {

struct DriverFiles {
    std::string module_text; // /proc/driver/nvidia/version; empty: no module
    std::optional<DottedVersion> module;
    std::string library; // libcuda.so.580.95.05, links followed; empty: not where drivers put it
    std::optional<DottedVersion> library_version; // as its name says

    // Both versions are known and differ.
    [[nodiscard]] bool differ() const {
        return module && library_version && *module != *library_version;
    }
};
// Where distributions, NVIDIA's installer and its container toolkit put libcuda.
std::vector<std::string> driver_directories();
DriverFiles look_at_driver(host::FileSystem& files);

// "the driver was upgraded under the running system: ...", with both versions; empty where they do
// not differ.
std::string tell_change(const DriverFiles& driver);

// Whether GPUs that CUDA does not show are in MIG mode, which no file says: a MIG-capable GPU has
// its directory in /proc/driver/nvidia/capabilities whether it is on or off.
//
// Law: NVML is asked, in a child with a deadline, and only where CUDA answered and showed no GPU.

// `program`: cudaenv-probe. `gpus`: those found in files; they get their mode by UUID, and
// the ones that only NVML knows are added.
void learn_mig_mode(host::ProcessRunner& processes, const std::string& program,
                    const std::vector<std::string>& environment, const facts::ProbeReport& report,
                    std::vector<facts::Gpu>& gpus);

} // namespace cudaenv::probe
