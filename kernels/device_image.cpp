#include "kernels/device_image.hpp"

#include <algorithm>
#include <string_view>

#ifdef CUDAENV_FATBIN
// The file's bytes as they are. Uncompressed fatbins are read where they lie, aligned.
asm(".pushsection .rodata\n"
    ".balign 64\n"
    "cudaenv_fatbin:\n"
    ".incbin \"" CUDAENV_FATBIN "\"\n"
    ".popsection\n");
extern "C" const unsigned char cudaenv_fatbin[];
#endif

namespace cudaenv::kernels {

#ifdef CUDAENV_FATBIN
namespace {

// "7.5,8.0,12.0", rising, as the build lists them.
std::vector<ComputeCapability> capabilities_of(std::string_view listed) {
    std::vector<ComputeCapability> capabilities;
    while (!listed.empty()) {
        const auto end = std::min(listed.find(','), listed.size());
        capabilities.push_back(*ComputeCapability::parse(listed.substr(0, end)));
        listed.remove_prefix(std::min(end + 1, listed.size()));
    }
    return capabilities;
}

} // namespace
#endif

const DeviceImage& device_image() {
#ifdef CUDAENV_FATBIN
    static const DeviceImage image = [] {
        DeviceImage built;
        built.fatbin = &cudaenv_fatbin[0];
        built.machine_code = capabilities_of(CUDAENV_MACHINE_CODE);
        built.ptx = built.machine_code.front(); // kernels/DeviceCode.cmake: of the lowest
        built.cuda = DottedVersion::of(CUDAENV_NVCC);
        return built;
    }();
#else
    static const DeviceImage image;
#endif
    return image;
}

std::optional<ComputeCapability>
machine_code_for(const std::vector<ComputeCapability>& machine_code, ComputeCapability gpu) {
    std::optional<ComputeCapability> newest;
    for (const auto built : machine_code) {
        if (built.major == gpu.major && built <= gpu && (!newest || built > *newest)) {
            newest = built;
        }
    }
    return newest;
}

} // namespace cudaenv::kernels
