#include "kernels/ladder.hpp"

#include "kernels/gpu_under_test.hpp"
#include "kernels/loaded_libraries.hpp"
#include "kernels/reporter.hpp"
#include "kernels/rungs/first_rungs.hpp"
#include "kernels/rungs/gpu_work.hpp"
#include "kernels/rungs/kernel.hpp"
#include "kernels/rungs/rungs.hpp"

#include <array>
#include <deque>
#include <string_view>

namespace cudaenv::kernels {

namespace {

using Steps = std::vector<std::string_view>;

// Heavy: what takes some hundred MB beside the context, or several GPUs at once.
enum class Weight { Light, Heavy };

// The rungs of the full ladder that are a library's, in their order: the only list of them here
// (facts::k_probed_libraries has them too; a test compares). The step's word is the library's in
// the request too.
struct LibraryRung {
    std::string_view step;
    Weight weight;
    void (*climb)(std::span<const GpuUnderTest>, const std::vector<std::string>&);
};
constexpr auto k_library_rungs = std::to_array<LibraryRung>({
    {"nvrtc", Weight::Light, climb_nvrtc},
    {"cublas", Weight::Heavy, climb_cublas},
    {"cudnn", Weight::Heavy, climb_cudnn},
    {"nccl", Weight::Heavy, climb_nccl},
});

void skip(std::string_view step, std::optional<int> gpu, std::string_view why) {
    Rung(step, gpu).skipped(why);
}

void skip_all(const Steps& steps, std::optional<int> gpu, std::string_view why) {
    for (const auto step : steps) {
        skip(step, gpu, why);
    }
}

// One visible GPU, and whether anything can still be asked of it.
struct Climber {
    explicit Climber(const GpuUnderTest& of) : gpu(of) {}

    GpuUnderTest gpu;
    std::string out;         // why not; empty: it can
    CurrentGpu current{gpu}; // to the end, so that the driver makes the context once
};

class Ladder {
public:
    explicit Ladder(const LadderRequest& request)
        : m_request(request), m_loaded(request.libraries) {}

    void climb() {
        if (!climb_library(m_driver)) {
            skip_all({"driver", "gpu", "runtime"}, std::nullopt,
                     "the driver's library is not loaded");
            skip_gpu_rungs("the driver's library is not loaded");
            return;
        }
        const auto answer = climb_driver(m_driver);
        if (!answer) {
            skip_all({"gpu", "runtime"}, std::nullopt, "the driver did not start");
            skip_gpu_rungs("the driver did not start");
            return;
        }
        if (answer->devices == 0) {
            skip_all({"gpu", "runtime"}, std::nullopt, "no GPU is visible");
            skip_gpu_rungs("no GPU is visible");
            return;
        }
        m_driver_cuda = answer->cuda;
        find_gpus(answer->devices);
        const auto runtime = climb_runtime(m_request.libraries.of("cudart"), m_driver, m_runtime);
        if (runtime == RuntimeFound::Fails) {
            for (auto& climber : m_climbers) {
                climber.out = "the runtime does not answer";
            }
        }
        for (auto& climber : m_climbers) {
            climber.gpu.runtime = runtime == RuntimeFound::Answers ? &m_runtime : nullptr;
            climb_gpu_rungs(climber);
        }
        if (m_request.full) {
            climb_libraries();
        }
    }

    // While the contexts are still there.
    std::vector<std::string> loaded() {
        m_loaded.look();
        return m_loaded.files();
    }

private:
    [[nodiscard]] Steps steps_of_gpu() const {
        return m_request.full ? Steps{"memory", "kernel", "ptx", "ptx-runtime"}
                              : Steps{"memory", "kernel"};
    }

    // Where no GPU can be named.
    void skip_gpu_rungs(std::string_view why) const {
        skip_all(steps_of_gpu(), std::nullopt, why);
        if (m_request.full) {
            for (const LibraryRung& rung : k_library_rungs) {
                skip(rung.step, std::nullopt, why);
            }
        }
    }

    void find_gpus(int devices) {
        // Of all of them before the first context: that one would be seen as somebody's.
        OccupancySource nvml;
        for (int ordinal = 0; ordinal < devices; ++ordinal) {
            GpuUnderTest unknown;
            unknown.ordinal = ordinal;
            unknown.driver = &m_driver;
            const auto gpu = climb_gpu(m_driver, ordinal, nvml);
            auto& climber = m_climbers.emplace_back(gpu.value_or(unknown));
            if (!gpu) {
                climber.out = "the driver does not describe this GPU";
            }
        }
        m_loaded.look(); // NVML is unloaded here
    }

    // One rung of one GPU, skipped where the GPU is out by then. `climb_it` is false where it
    // failed.
    template <typename Climb>
    void climb_step(Climber& climber, std::string_view step, const Climb& climb_it) const {
        if (!climber.out.empty()) {
            skip(step, climber.gpu.ordinal, climber.out);
            return;
        }
        if (!climb_it()) {
            look_after(climber, step);
        }
    }

    // A kernel that trapped, or an address that was wrong, breaks the context for good, and every
    // later call would tell of that one once more. A refusal leaves it whole.
    void look_after(Climber& climber, std::string_view step) const {
        if (m_driver.context_synchronize == nullptr || m_driver.context_synchronize() != 0) {
            climber.out = "the GPU's context broke in the rung " + std::string(step);
        }
    }

    void climb_gpu_rungs(Climber& climber) const {
        const auto& gpu = climber.gpu;
        climb_step(climber, "memory", [&] {
            if (!climb_memory(gpu, climber.current)) {
                climber.out =
                    gpu.left_alone ? "this GPU is left alone" : "no memory of this GPU can be used";
            }
            return true;
        });
        climb_step(climber, "kernel", [&] { return climb_kernel(gpu, m_driver_cuda); });
        if (climber.out.empty() && gpu.is_exclusive) {
            climber.out = "exclusive mode: the quick probe only";
        }
        if (m_request.full) {
            climb_step(climber, "ptx", [&] { return climb_ptx(gpu); });
            climb_step(climber, "ptx-runtime", [&] { return climb_ptx_runtime(gpu); });
        }
    }

    void climb_libraries() {
        for (const LibraryRung& rung : k_library_rungs) {
            climb_library_rung(rung, m_request.libraries.of(rung.step));
        }
    }

    void climb_library_rung(const LibraryRung& rung, const std::vector<std::string>& files) {
        const std::string_view step = rung.step;
        std::vector<GpuUnderTest> gpus;
        const auto is_spared = [&](const Climber& climber) {
            return rung.weight == Weight::Heavy && !climber.gpu.in_use.empty();
        };
        for (auto& climber : m_climbers) {
            if (!climber.out.empty()) {
                skip(step, climber.gpu.ordinal, climber.out);
            } else if (is_spared(climber)) {
                skip(step, climber.gpu.ordinal, "busy, " + climber.gpu.in_use + ": not tried");
            } else {
                gpus.push_back(climber.gpu);
            }
        }
        if (gpus.empty()) {
            return;
        }
        rung.climb(gpus, files);
        for (auto& climber : m_climbers) {
            if (climber.out.empty() && !is_spared(climber) &&
                (climber.current.make_current() || climber.current.synchronize())) {
                climber.out = "the GPU's context broke in the rung " + std::string(step);
            }
        }
    }

    const LadderRequest& m_request;
    LoadedLibraries m_loaded;
    DriverApi m_driver;
    RuntimeApi m_runtime;
    std::optional<DottedVersion> m_driver_cuda;
    std::deque<Climber> m_climbers; // they stay where they are
};

} // namespace

std::vector<std::string_view> library_steps() {
    std::vector<std::string_view> steps;
    for (const LibraryRung& rung : k_library_rungs) {
        steps.push_back(rung.step);
    }
    return steps;
}

std::vector<std::string> climb(const LadderRequest& request) {
    Ladder ladder(request);
    ladder.climb();
    return ladder.loaded();
}

} // namespace cudaenv::kernels
