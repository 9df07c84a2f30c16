#include "shellhooks/activation/build_variables.hpp"

#include "solver/facts/visible.hpp"
#include "solver/knowledge/fit.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <set>

namespace cudaenv::activation {

namespace {

struct Target {
    ComputeCapability capability;
    bool ptx = false; // the GPU is newer than what nvcc makes machine code for
    friend auto operator<=>(const Target&, const Target&) = default;
};

// The GPU itself where nvcc knows it, else the nearest older that it can make; none: nvcc makes
// nothing that would run on it.
std::optional<Target> target_for(ComputeCapability gpu, const std::optional<DottedVersion>& nvcc) {
    const auto made = nvcc ? knowledge::architectures_of_toolkit(*nvcc) : std::nullopt;
    if (!made || made->sass.empty() || std::ranges::find(made->sass, gpu) != made->sass.end()) {
        return Target{gpu, false};
    }
    std::optional<Target> best;
    for (const ComputeCapability capability : made->sass) {
        if (capability < gpu) {
            best = Target{capability, !knowledge::machine_code_runs(capability, gpu, *nvcc)};
        }
    }
    return best;
}

} // namespace

DeviceTargets device_targets(const Situation& situation, const std::optional<DottedVersion>& nvcc) {
    const auto visible = situation.base.find("CUDA_VISIBLE_DEVICES");
    const std::vector<facts::Gpu> gpus =
        visible == situation.base.end()
            ? situation.host.gpus
            : facts::narrowed_to_visible(situation.host, visible->second).gpus;
    std::vector<ComputeCapability> capabilities;
    for (const facts::Gpu& gpu : gpus) {
        if (!gpu.compute_capability) {
            return {}; // a list without it would be a build that does not run here
        }
        capabilities.push_back(*gpu.compute_capability);
    }
    if (gpus.empty()) {
        for (const std::string& target : situation.config.targets()) {
            if (const auto capability = ComputeCapability::parse(target)) {
                capabilities.push_back(*capability);
            }
        }
    }
    DeviceTargets targets;
    std::set<Target> wanted;
    for (const ComputeCapability capability : capabilities) {
        if (const auto target = target_for(capability, nvcc)) {
            wanted.insert(*target);
        } else {
            targets.notes.push_back("nvcc " + nvcc->str() + " cannot compile code for " +
                                    capability.sm());
        }
    }
    // Torch's own default, said here so that a build without the GPU at hand is the same: every
    // capability that is here, PTX for the newest.
    for (auto target = wanted.begin(); target != wanted.end(); ++target) {
        const bool last = std::next(target) == wanted.end();
        // Both with and without PTX: the latter is enough.
        if (!last && std::next(target)->capability == target->capability) {
            continue;
        }
        targets.torch += (targets.torch.empty() ? "" : ";") + target->capability.str() +
                         (last || target->ptx ? "+PTX" : "");
        targets.cmake += (targets.cmake.empty() ? "" : ";") +
                         target->capability.sm().substr(std::string_view("sm_").size());
    }
    return targets;
}

int build_jobs(const facts::BuildMachine& machine) {
    const int cores = std::max(machine.cores, 1);
    if (!machine.memory_bytes) {
        return cores;
    }
    // flash-attention, whose sources are among the heaviest, counts 9 GB for a job of its four nvcc
    // threads, so 2.25 for each compilation; a build that gives a job several threads
    // (NVCC_THREADS) takes that many times as much.
    // https://github.com/Dao-AILab/flash-attention/blob/main/setup.py
    constexpr std::uint64_t k_bytes_a_job = (std::uint64_t{5} << 30) / 2;
    const auto fit = *machine.memory_bytes / k_bytes_a_job;
    return std::max(
        1, static_cast<int>(std::min<std::uint64_t>(fit, static_cast<std::uint64_t>(cores))));
}

} // namespace cudaenv::activation
