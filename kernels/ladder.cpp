#include "kernels/ladder.hpp"

#include "kernels/gpu_under_test.hpp"
#include "kernels/library_files.hpp"
#include "kernels/reporter.hpp"
#include "kernels/rungs/gpu_work.hpp"
#include "kernels/rungs/rungs.hpp"

#include <array>
#include <deque>
#include <span>
#include <string_view>
#include <utility>

namespace cudaenv::kernels {

namespace {

using facts::RungSubject;

// What climbs each row of facts::k_rungs; null where the ladder below does, or cudaenvd.
struct Climb {
    bool (*on_gpu)(const GpuUnderTest&, CurrentGpu&) = nullptr;
    void (*with_library)(std::span<const GpuUnderTest>, const std::vector<std::string>&) = nullptr;
};

template <std::size_t Row>
constexpr Climb climb_of_row() {
    constexpr const facts::RungRow& rung = facts::k_rungs[Row];
    Climb climb;
    if constexpr (rung.subject == RungSubject::Gpu) {
        climb.on_gpu = climb_on_gpu<rung.step>;
    } else if constexpr (rung.subject == RungSubject::Library && rung.step != ProbeStep::Runtime) {
        climb.with_library = climb_library_rung<rung.step>;
    }
    return climb;
}

constexpr auto k_climbs = []<std::size_t... Row>(std::index_sequence<Row...>) {
    return std::array{climb_of_row<Row>()...};
}
(std::make_index_sequence<facts::k_rungs.size()>());

void skip(ProbeStep step, std::optional<int> gpu, std::string_view why) {
    Rung(step, gpu).skipped(why);
}

// One visible GPU, and whether it can still be used.
struct Climber {
    explicit Climber(const GpuUnderTest& of) : gpu(of) {}

    GpuUnderTest gpu;
    std::string out;         // why it cannot; empty: it can
    CurrentGpu current{gpu}; // until the end, so that the driver makes the context once
};

struct Ladder {
    const LadderRequest& request;
    LoadedLibraries libraries{request.libraries};
    DriverApi driver{};
    RuntimeApi runtime_api{};
    std::deque<Climber> climbers{}; // they stay where they are

    void climb() {
        if (!climb_library(driver)) {
            skip_from(ProbeStep::Driver, "the driver's library is not loaded");
            return;
        }
        const auto answer = climb_driver(driver);
        if (!answer) {
            skip_from(ProbeStep::Gpu, "the driver did not start");
            return;
        }
        if (answer->devices == 0) {
            skip_from(ProbeStep::Gpu, "no GPU is visible");
            return;
        }
        find_gpus(*answer);
        const auto* const cudart = facts::probed_library(ProbeStep::Runtime);
        const auto runtime = climb_runtime(request.libraries.of(cudart->word), driver, runtime_api);
        if (runtime == RuntimeFound::Fails) {
            for (auto& climber : climbers) {
                climber.out = "the runtime does not answer";
            }
        }
        for (auto& climber : climbers) {
            climber.gpu.runtime = runtime == RuntimeFound::Answers ? &runtime_api : nullptr;
            climb_gpu_rungs(climber);
        }
        for (const facts::RungRow& rung : facts::k_rungs) {
            if (is_asked_for(rung) && climb_of(rung).with_library != nullptr) {
                climb_with_library(rung);
            }
        }
    }

    // While the contexts are still there.
    std::vector<std::string> loaded() {
        libraries.look();
        return libraries.files();
    }

    static const Climb& climb_of(const facts::RungRow& rung) {
        return k_climbs[static_cast<std::size_t>(rung.step)];
    }

    [[nodiscard]] bool is_asked_for(const facts::RungRow& rung) const {
        return rung.depth == facts::RungDepth::Quick ||
               (rung.depth == facts::RungDepth::Full && request.full);
    }

    // Where no GPU can be named.
    void skip_from(ProbeStep first, std::string_view why) const {
        for (const facts::RungRow& rung : facts::rungs_from(first)) {
            if (is_asked_for(rung)) {
                skip(rung.step, std::nullopt, why);
            }
        }
    }

    void find_gpus(const DriverAnswer& answer) {
        // NVML describes all of them before the first context, which it would show as a process.
        OccupancySource nvml;
        for (int ordinal = 0; ordinal < answer.devices; ++ordinal) {
            GpuUnderTest unknown;
            unknown.ordinal = ordinal;
            unknown.driver = &driver;
            const auto gpu = climb_gpu(driver, ordinal, nvml);
            auto& climber = climbers.emplace_back(gpu.value_or(unknown));
            climber.gpu.driver_cuda = answer.cuda;
            if (!gpu) {
                climber.out = "the driver does not describe this GPU";
            }
        }
        libraries.look(); // NVML is unloaded here
    }

    void climb_gpu_rungs(Climber& climber) const {
        for (const facts::RungRow& rung : facts::k_rungs) {
            if (climb_of(rung).on_gpu == nullptr || !is_asked_for(rung)) {
                continue;
            }
            if (climber.out.empty() && climber.gpu.is_exclusive && !facts::is_quick(rung.step)) {
                climber.out = "exclusive mode: the quick probe only";
            }
            if (!climber.out.empty()) {
                skip(rung.step, climber.gpu.ordinal, climber.out);
            } else if (!climb_of(rung).on_gpu(climber.gpu, climber.current)) {
                climber.out = after_failure(climber, rung);
            }
        }
        if (climber.out.empty() && climber.gpu.is_exclusive) {
            climber.out = "exclusive mode: the quick probe only";
        }
    }

    // A kernel that trapped, or an invalid address, breaks the context for good: every later call
    // would return the same error. A refusal leaves it intact.
    [[nodiscard]] std::string after_failure(const Climber& climber,
                                            const facts::RungRow& rung) const {
        if (rung.step == ProbeStep::Memory) {
            return climber.gpu.left_alone ? "this GPU is left alone"
                                          : "no memory of this GPU can be used";
        }
        return driver.context_synchronize == nullptr || driver.context_synchronize() != 0
                   ? broke_in(rung)
                   : std::string();
    }

    static std::string broke_in(const facts::RungRow& rung) {
        return "the GPU's context failed in the rung " + std::string(rung.word);
    }

    void climb_with_library(const facts::RungRow& rung) {
        std::vector<GpuUnderTest> gpus;
        const auto is_spared = [&](const Climber& climber) {
            return rung.library.heavy && !climber.gpu.in_use.empty();
        };
        for (auto& climber : climbers) {
            if (!climber.out.empty()) {
                skip(rung.step, climber.gpu.ordinal, climber.out);
            } else if (is_spared(climber)) {
                skip(rung.step, climber.gpu.ordinal, "busy, " + climber.gpu.in_use + ": not tried");
            } else {
                gpus.push_back(climber.gpu);
            }
        }
        if (gpus.empty()) {
            return;
        }
        climb_of(rung).with_library(gpus, request.libraries.of(rung.library.word));
        for (auto& climber : climbers) {
            if (climber.out.empty() && !is_spared(climber) &&
                (climber.current.make_current() || climber.current.synchronize())) {
                climber.out = broke_in(rung);
            }
        }
    }
};

} // namespace

std::vector<std::string> climb(const LadderRequest& request) {
    Ladder ladder{request};
    ladder.climb();
    return ladder.loaded();
}

} // namespace cudaenv::kernels
