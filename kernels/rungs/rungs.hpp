// What climbs a rung of the full ladder: one specialization for each row of facts::k_rungs, in a
// file of this folder. Each begins and ends its own rungs (kernels/reporter.hpp). A row without one
// does not link.
//
// Law: a few MB by plain allocations, all given back; results are compared with the CPU's; no
// setting of a GPU is touched; nothing throws.
#pragma once

#include "kernels/gpu_under_test.hpp"
#include "kernels/occupancy.hpp"
#include "kernels/rungs/gpu_work.hpp"
#include "solver/facts/probe_rungs.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::kernels {

// A row of RungSubject::Gpu: the probe's own code on a GPU that is current, once `memory` made it
// so. False: the rung failed or the result was wrong.
template <facts::ProbeStep>
bool climb_on_gpu(const GpuUnderTest& gpu, CurrentGpu& current);

// A row of RungSubject::Library: a rung for each of `gpus`, or one for all. `files` are the places
// where the library may be; the first that loads is used. Where none exists the rung is skipped;
// where a file could not be loaded, it is refused with the loader's words.
template <facts::ProbeStep>
void climb_library_rung(std::span<const GpuUnderTest> gpus, const std::vector<std::string>& files);

// The usual library rung: its functions are found once, and `climb` runs on each GPU.
template <typename Api, typename Load, typename Climb>
void climb_each_gpu(facts::ProbeStep step, std::span<const GpuUnderTest> gpus,
                    const std::vector<std::string>& files, Load load, Climb climb) {
    Api api;
    std::string path;
    for (const GpuUnderTest& gpu : gpus) {
        Rung rung(step, gpu.ordinal);
        if (path.empty()) {
            const LoadedLibrary library = load_or_end(rung, files, step);
            if (library.handle == nullptr) {
                return;
            }
            rung.set_file(library.path);
            if (const MaybeStop stop = load(library, api)) {
                end_rung(rung, stop);
                return;
            }
            path = library.path;
        }
        rung.set_file(path);
        const MaybeStop stop = climb(rung, gpu, api);
        set_part(rung, step, path); // by then it has opened what it opens itself
        end_rung(rung, stop);
    }
}

// The rungs with which every ladder begins: the driver, each GPU, the environment's libcudart. Each
// begins and ends its own rung (kernels/reporter.hpp).
//
// Law: no setting of a GPU is touched; a refusal is reported as the call and its number, nothing is
// retried; nothing throws.

// The driver's library is loaded into `api`. False: it was not.
bool climb_library(DriverApi& api);

struct DriverAnswer {
    int devices = 0;
    std::optional<DottedVersion> cuda;
};
// cuInit, the driver's CUDA version, how many devices. None: it failed.
std::optional<DriverAnswer> climb_driver(const DriverApi& api);

// One device, and whether it is left alone. None: it failed.
std::optional<GpuUnderTest> climb_gpu(const DriverApi& api, int ordinal, OccupancySource& nvml);

enum class RuntimeFound { Answers, Absent, Fails };
// The environment's libcudart answers. It asks the loader for libcuda.so.1 and gets the one that
// the probe has opened, wherever that was.
RuntimeFound climb_runtime(const std::vector<std::string>& files, const DriverApi& driver,
                           RuntimeApi& api);

} // namespace cudaenv::kernels
