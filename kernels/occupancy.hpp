// Whether a GPU is left alone, decided before a context is made on it: which processes compute
// there and how much of its memory is free, by NVML, which makes none.
#pragma once

#include "kernels/driver_api.hpp"
#include "kernels/nvml_session.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::kernels {

// CU_COMPUTEMODE_* of cuda.h.
inline constexpr int k_exclusive_thread = 1; // of old drivers
inline constexpr int k_prohibited = 2;
inline constexpr int k_exclusive_process = 3;

inline bool is_exclusive(int compute_mode) {
    return compute_mode == k_exclusive_thread || compute_mode == k_exclusive_process;
}

// Each absent where NVML does not say.
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

// Why no context is made on that GPU; none where one may be. The call is "compute mode" or
// "memory", the error is the driver's answer to a program that tries: 46 or 2. The driver names it.
// Pure.
MaybeStop left_alone(int compute_mode, const Occupancy& occupancy, bool is_mps);

// Who uses a GPU on which a context may be made all the same: "2 processes compute on it". Empty:
// NVML shows no other process. Pure.
std::string in_use(const Occupancy& occupancy);

} // namespace cudaenv::kernels
