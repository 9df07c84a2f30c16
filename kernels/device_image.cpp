#include "kernels/device_image.hpp"

#ifdef CUDAENV_FATBIN
// The file's bytes as they are. Uncompressed fatbins are read where they lie, aligned.
asm(".pushsection .rodata\n"
    ".balign 64\n"
    "cudaenv_fatbin:\n"
    ".incbin \"" CUDAENV_FATBIN "\"\n"
    ".popsection\n");
// A name of the assembler's, which reserved names are not needed for.
extern "C" const unsigned char cudaenv_fatbin[]; // NOLINT
#endif

namespace cudaenv::kernels {

const DeviceImage& device_image() {
#ifdef CUDAENV_FATBIN
    static const DeviceImage image = {
        &cudaenv_fatbin[0], {CUDAENV_MACHINE_CODE}, {CUDAENV_PTX}, DottedVersion::of(CUDAENV_NVCC)};
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
