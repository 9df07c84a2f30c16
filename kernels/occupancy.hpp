// Whether a GPU is to be left alone, told before a context is made on it: who computes there and
// how much of its memory is free, by NVML, which makes none.
#pragma once

#include "kernels/driver_api.hpp"
#include "kernels/nvml_session.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::kernels {

// CU_COMPUTEMODE_* of cuda.h.
inline constexpr int k_exclusive_thread = 1; // of old drivers
inline constexpr int k_prohibited = 2;
inline constexpr int k_exclusive_process = 3;

inline bool is_exclusive(int compute_mode) {
    return compute_mode == k_exclusive_thread || compute_mode == k_exclusive_process;
}

// Each absent where NVML does not tell.
struct Occupancy {
    std::optional<std::uint64_t> memory_free;
    std::optional<std::uint64_t> memory_used;
    std::optional<std::size_t> computing; // processes, of those that NVML shows to this user
    std::optional<std::size_t> drawing;   // likewise
    std::optional<std::uint64_t> memory_total;
    std::optional<unsigned> percent; // how busy it was just now
};

// NVML, opened at the first question: that too may never return, and belongs into a rung.
class OccupancySource {
public:
    // `uuid`: "GPU-..." or "MIG-...".
    Occupancy of(const std::string& uuid);

private:
    bool open();

    std::vector<std::string> m_unsaid; // what NVML refused: then a GPU's occupancy is unknown
    NvmlSession m_session{m_unsaid};
    std::optional<bool> m_is_open;
};

// MPS shares an exclusive GPU: its server is the one process there, and others go through it.
bool is_mps_here();

// Why no context is made on that GPU; none where one may be. The call is "compute mode" or "memory"
// and the error what the driver answers to those who try: 46, 2. Its name is left to the driver.
// Pure.
MaybeStop left_alone(int compute_mode, const Occupancy& occupancy, bool is_mps);

// Who works on a GPU on which a context may be made all the same: "2 processes compute on it".
// Empty: nobody that NVML tells of. Pure.
std::string in_use(const Occupancy& occupancy);
// What a rung's message begins with before it; facts::k_busy, which kernels/ may not see.
inline constexpr std::string_view k_busy = "busy: ";

} // namespace cudaenv::kernels
