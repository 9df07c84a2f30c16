// Device code on a GPU: loaded by the driver API into the context that is current, its kernels
// launched on memory of the environment's runtime, the results compared with the CPU's.
#pragma once

#include "base/compute_capability.hpp"
#include "kernels/checks.hpp"
#include "kernels/gpu_under_test.hpp"
#include "kernels/rungs/stop.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::kernels {

inline constexpr const char* k_load_call = "cuModuleLoadDataEx";

// The driver lacks what loads or launches code.
MaybeStop lacks_launch(const DriverApi& driver);

struct LaunchShape {
    unsigned grid_x = 1;
    unsigned grid_y = 1;
    unsigned block = 1;
};

// Code in the context that is current, unloaded when this goes. Of a driver that has what
// lacks_launch() looks for.
class LoadedCode {
public:
    explicit LoadedCode(const DriverApi& driver) : m_driver(driver) {}
    ~LoadedCode();
    LoadedCode(const LoadedCode&) = delete;
    LoadedCode& operator=(const LoadedCode&) = delete;

    // A failure's message is the JIT compiler's.
    MaybeStop load(const void* image);
    // Launches the kernel and waits for it; `what` is the message of a failure.
    MaybeStop run(const std::string& function, const LaunchShape& shape, std::span<void*> arguments,
                  const std::string& what);

private:
    const DriverApi& m_driver;
    CuModule m_module = nullptr;
};

// `image`: a fatbin, or PTX with a zero at its end. The GPU's context is current. `passed` takes
// the names of the checks that were right, until the first that is not.
MaybeStop run_checks(const GpuUnderTest& gpu, const void* image,
                     const std::vector<KernelCheck>& checks, std::vector<std::string>& passed);

// The machine code that was built into the probe (kernels/device/), if there was an nvcc.
struct DeviceImage {
    const void* fatbin = nullptr;                // null: built without nvcc
    std::vector<ComputeCapability> machine_code; // rising
    ComputeCapability ptx;                       // what its PTX is for: newer GPUs than all above
    DottedVersion cuda;                          // nvcc's
};
const DeviceImage& device_image();

// Which of `machine_code` runs on the GPU: the newest of its major that is not newer than it.
std::optional<ComputeCapability>
machine_code_for(const std::vector<ComputeCapability>& machine_code, ComputeCapability gpu);

} // namespace cudaenv::kernels
