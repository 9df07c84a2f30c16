#include "kernels/ptx/isa.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace cudaenv::kernels {

namespace {

struct IsaOfCuda {
    std::uint32_t major;
    std::uint32_t minor;
    const char* isa;
};

// PTX ISA, "Release Notes", table "PTX Release History":
// https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes
// There was no release 12.7; its driver branch (565) reports that number and accepts 8.6.
constexpr auto k_table = std::to_array<IsaOfCuda>({
    {9, 0, "6.0"},  {9, 1, "6.1"},  {9, 2, "6.2"},  {10, 0, "6.3"}, {10, 1, "6.4"},
    {10, 2, "6.5"}, {11, 0, "7.0"}, {11, 1, "7.1"}, {11, 2, "7.2"}, {11, 3, "7.3"},
    {11, 4, "7.4"}, {11, 5, "7.5"}, {11, 6, "7.6"}, {11, 7, "7.7"}, {11, 8, "7.8"},
    {12, 0, "8.0"}, {12, 1, "8.1"}, {12, 2, "8.2"}, {12, 3, "8.3"}, {12, 4, "8.4"},
    {12, 5, "8.5"}, {12, 6, "8.5"}, {12, 7, "8.6"}, {12, 8, "8.7"}, {12, 9, "8.8"},
});

} // namespace

std::optional<DottedVersion> ptx_isa_of_cuda(const DottedVersion& cuda) {
    // From 13.0 on the two count together.
    if (cuda.major() == 13) {
        return DottedVersion::of("9." + std::to_string(cuda.minor()));
    }
    const auto* row = std::ranges::find_if(k_table, [&](const IsaOfCuda& known) {
        return known.major == cuda.major() && known.minor == cuda.minor();
    });
    return row == k_table.end() ? std::nullopt : std::optional(DottedVersion::of(row->isa));
}

} // namespace cudaenv::kernels
