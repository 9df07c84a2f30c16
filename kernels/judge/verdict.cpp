#include "kernels/judge/verdict.hpp"

#include "base/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::judge {

using facts::ProbeStep;

bool is_right(const Placed& placed, ProbeStep step) {
    return placed.step == step &&
           (placed.finding.status == StepStatus::Ok || placed.finding.status == StepStatus::Warns);
}

bool is_broken(const Placed& placed) {
    return placed.finding.status == StepStatus::Fails && !placed.finding.machine_is_right;
}

namespace {

bool is_busy(const Placed& placed) {
    return placed.finding.status == StepStatus::Fails &&
           placed.finding.verdict == ProbeVerdict::Busy;
}

struct Served {
    std::ptrdiff_t gpus;
    std::ptrdiff_t of_these; // on which a kernel ran, and what is here has code for them
};

Served served_by(const std::vector<Placed>& steps) {
    return {std::ranges::count_if(
                steps, [](const Placed& placed) { return placed.step == ProbeStep::Gpu; }),
            std::ranges::count_if(
                steps, [](const Placed& placed) { return is_right(placed, ProbeStep::Kernel); })};
}

std::string served(const Served& served) {
    if (served.of_these == served.gpus) {
        return served.gpus <= 1 ? "CUDA works on the GPU"
                                : fmt::format("CUDA works on all {} GPUs", served.gpus);
    }
    return fmt::format("CUDA works on {} of {} GPUs", served.of_these, served.gpus);
}

// The kernel of a GPU that was visible and on which none was run, though nothing failed there.
const Placed* untried(const std::vector<Placed>& steps) {
    return find_pointer_if(steps, [&](const Placed& kernel) {
        return kernel.step == ProbeStep::Kernel && kernel.finding.status == StepStatus::Skipped &&
               std::ranges::none_of(steps, [&](const Placed& below) {
                   return below.finding.status == StepStatus::Fails && below.step < kernel.step &&
                          (!below.gpu || below.gpu == kernel.gpu);
               });
    });
}

const Placed* first_with(const std::vector<Placed>& steps, StepStatus status,
                         std::optional<ProbeVerdict> verdict = std::nullopt) {
    return find_pointer_if(steps, [&](const Placed& placed) {
        return placed.finding.status == status && (!verdict || placed.finding.verdict == *verdict);
    });
}

std::string with_place(const Placed& placed) {
    return placed.gpu && placed.step != ProbeStep::Gpu
               ? fmt::format("{}, gpu {}: {}", word_of(placed.step), *placed.gpu,
                             placed.finding.text.title)
               : fmt::format("{}: {}", word_of(placed.step), placed.finding.text.title);
}

} // namespace

ProbeVerdict verdict_of(const std::vector<Placed>& steps) {
    // A child that was lost says so itself; below that the lowest broken rung decides.
    const Placed* failure = nullptr;
    bool warns = false;
    bool busy = false;
    bool busy_above = false;
    bool kernel_right = false;
    for (const Placed& placed : steps) {
        const ProbeVerdict verdict = placed.finding.verdict;
        if (placed.finding.status == StepStatus::Fails &&
            (verdict == ProbeVerdict::TimedOut || verdict == ProbeVerdict::Crashed)) {
            return verdict;
        }
        warns = warns || placed.finding.status == StepStatus::Warns;
        kernel_right = kernel_right || is_right(placed, ProbeStep::Kernel);
        if (is_busy(placed)) {
            busy = true;
            busy_above = busy_above || !facts::is_quick(placed.step);
        } else if (placed.finding.status == StepStatus::Fails && failure == nullptr) {
            failure = &placed;
        }
    }
    if (failure != nullptr) {
        return failure->finding.verdict;
    }
    if (busy) {
        return kernel_right && !busy_above ? ProbeVerdict::Warns : ProbeVerdict::Busy;
    }
    // What was not run is not right.
    return warns || !kernel_right || untried(steps) != nullptr ? ProbeVerdict::Warns
                                                               : ProbeVerdict::Ok;
}

std::string summary_of(const Scene& scene, const std::vector<Placed>& steps, ProbeVerdict verdict) {
    const std::string chain = [&] {
        if (!scene.driver_cuda || !scene.runtime) {
            return std::string();
        }
        const auto runtime = DottedVersion::of(scene.runtime->version.major_minor());
        return fmt::format("driver {} {} runtime {}", scene.driver_cuda->str(),
                           *scene.driver_cuda >= runtime ? ">=" : "<", runtime.str());
    }();
    const Served gpus = served_by(steps);
    if (verdict == ProbeVerdict::Ok) {
        return chain.empty() ? fmt::format("driver {}, no runtime here, and {}",
                                           scene.driver_cuda ? scene.driver_cuda->str() : "unknown",
                                           served(gpus))
                             : fmt::format("{}, and {}", chain, served(gpus));
    }
    // Of several GPUs: how many are served.
    const auto line_of = [&](const Placed& placed) {
        const bool is_partly = gpus.of_these > 0 && gpus.of_these < gpus.gpus && placed.gpu;
        return (is_partly ? served(gpus) + "; " : std::string()) + with_place(placed);
    };
    const Placed* failure = first_with(steps, StepStatus::Fails, verdict);
    failure = failure != nullptr ? failure : first_with(steps, StepStatus::Fails);
    if (failure != nullptr) {
        return line_of(*failure);
    }
    if (const Placed* const left_out = untried(steps); left_out != nullptr && gpus.of_these > 0) {
        return line_of(*left_out);
    }
    if (const Placed* const warning = first_with(steps, StepStatus::Warns)) {
        return line_of(*warning);
    }
    if (const Placed* const left_out = first_with(steps, StepStatus::Skipped)) {
        return "no kernel was run: " + with_place(*left_out);
    }
    return "no kernel was run";
}

namespace {

// Another process uses it, or needs it soon.
bool is_spared(const facts::ProbeRung& gpu) {
    constexpr int k_exclusive_thread = 1;
    constexpr int k_exclusive_process = 3;
    return gpu.compute_mode == k_exclusive_thread || gpu.compute_mode == k_exclusive_process ||
           gpu.reason == facts::RungReason::Busy;
}

// It is broken, so that `step`, which rests on it, was not reached.
bool breaks_off(const Placed& below, const Placed& step) {
    return below.step < step.step && facts::is_quick(below.step) && is_broken(below) &&
           (!below.gpu || !step.gpu || below.gpu == step.gpu);
}

} // namespace

std::vector<std::string> not_looked_at(const Scene& scene, const std::vector<Placed>& steps) {
    std::vector<std::string> found;
    for (const Placed& placed : steps) {
        // What is not here at all has a code that says so.
        if (placed.finding.status != StepStatus::Skipped || !placed.finding.text.code.empty() ||
            facts::is_built(placed.step)) {
            continue;
        }
        const auto gpu = scene.gpus.find(placed.gpu.value_or(0));
        const bool is_together = facts::row_of(placed.step).reach == facts::RungReach::Together;
        const bool was_left_out =
            scene.report->ending != facts::ProbeReport::Ending::Finished ||
            // One GPU has no other to exchange with; several have, unless they are spared.
            (is_together ? scene.gpus.size() > 1
                         : gpu != scene.gpus.end() && is_spared(*gpu->second)) ||
            std::ranges::any_of(steps,
                                [&](const Placed& below) { return breaks_off(below, placed); });
        const std::string word(word_of(placed.step));
        if (was_left_out && (found.empty() || found.back() != word)) {
            found.push_back(word);
        }
    }
    return found;
}

namespace {

constexpr auto k_verdicts = std::to_array<std::string_view>(
    {"ok", "warns", "fails", "no-driver", "no-gpu", "driver-broken", "busy", "crashed", "timeout"});

} // namespace

std::string_view name_of(ProbeVerdict verdict) {
    return k_verdicts.at(static_cast<std::size_t>(verdict));
}

std::optional<ProbeVerdict> verdict_named(std::string_view word) {
    const auto* const known = std::ranges::find(k_verdicts, word);
    return known == k_verdicts.end()
               ? std::nullopt
               : std::optional(static_cast<ProbeVerdict>(known - k_verdicts.begin()));
}

} // namespace cudaenv::judge
