#include "kernels/rungs/rungs.hpp"

#include <algorithm>
#include <cstdint>

namespace cudaenv::kernels {

namespace {

constexpr std::size_t k_words = std::size_t{1} << 19U; // 2 MiB

MaybeStop there_and_back(DeviceBuffer& buffer) {
    std::vector<std::uint32_t> there(k_words);
    std::uint32_t word = 1;
    std::generate(there.begin(), there.end(), [&] { return word = word * 2654435761U + 40503U; });
    std::vector<std::uint32_t> back(k_words);
    CUDAENV_STOP_IF(buffer.to_device(there.data(), k_words * sizeof(word)));
    CUDAENV_STOP_IF(buffer.give(back));
    const auto differs = std::ranges::mismatch(there, back).in1;
    return differs == there.end()
               ? std::nullopt
               : MaybeStop(wrong_result("word " + std::to_string(differs - there.begin()) +
                                        " of the data copied to the GPU came back changed"));
}

} // namespace

template <>
bool climb_on_gpu<ProbeStep::Memory>(const GpuUnderTest& gpu, CurrentGpu& current) {
    Rung rung(ProbeStep::Memory, gpu.ordinal);
    if (gpu.left_alone) {
        end_rung(rung, gpu.left_alone);
        return false;
    }
    DeviceBuffer buffer(gpu);
    auto stop = current.make_current();
    if (!stop) {
        // Runtimes before 12.0 make their context here and not before.
        stop = buffer.allocate(k_words * sizeof(std::uint32_t));
    }
    std::size_t free = 0;
    std::size_t total = 0;
    if (gpu.driver->memory_get_info != nullptr && gpu.driver->memory_get_info(&free, &total) == 0 &&
        total > 0) {
        rung.set("memory_free", free);
        rung.set("memory_total", total);
    }
    if (!stop) {
        stop = there_and_back(buffer);
    }
    end_rung(rung, stop);
    return !stop;
}

} // namespace cudaenv::kernels
