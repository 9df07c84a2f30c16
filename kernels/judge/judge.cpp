#include "kernels/judge/judge.hpp"

#include "base/ranges.hpp"
#include "kernels/judge/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace cudaenv::judge {

namespace {

using facts::ProbeResult;
using facts::ProbeRung;
using facts::ProbeStep;
using facts::word_of;
using Ending = facts::ProbeReport::Ending;

// Law: a child that was lost decides, then the lowest rung that is broken; a busy GPU is not a
// failure where another one served; a rung that was not run is not right.

// A rung of the ladder with its finding, in the ladder's order.
struct Placed {
    facts::ProbeStep step;
    std::optional<int> gpu;
    double took_ms = 0;
    Finding finding;
};

// It ran, maybe with a warning.
bool is_right(const Placed& placed, ProbeStep step) {
    return placed.step == step &&
           (placed.finding.status == StepStatus::Ok || placed.finding.status == StepStatus::Warns);
}

// It failed, and not by what the environment has alone: nothing can be built on it.
bool is_broken(const Placed& placed) {
    return placed.finding.status == StepStatus::Fails && !placed.finding.machine_is_right;
}

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

struct Ladder {
    const Scene& scene;
    std::vector<Placed> steps{};

    std::vector<Placed> climb();

    void judge_reported();
    void fill_gaps();
    void note_farewell();
    [[nodiscard]] bool reported(ProbeStep step, std::optional<int> gpu) const;
    [[nodiscard]] const Placed* first_failure() const;
};

bool Ladder::reported(ProbeStep step, std::optional<int> gpu) const {
    return std::ranges::any_of(steps, [&](const Placed& placed) {
        // An absent library is reported once for all GPUs.
        const bool is_of_all = facts::is_library(step) || !placed.gpu || !gpu;
        return placed.step == step && (is_of_all || placed.gpu == gpu);
    });
}

const Placed* Ladder::first_failure() const {
    return find_pointer_if(steps, is_broken);
}

void Ladder::judge_reported() {
    std::vector<const ProbeRung*> rungs;
    for (const ProbeRung& rung : scene.report->rungs) {
        rungs.push_back(&rung);
    }
    std::ranges::stable_sort(rungs, [](const auto* a, const auto* b) {
        return std::tuple(a->step, a->gpu.value_or(-1)) < std::tuple(b->step, b->gpu.value_or(-1));
    });
    for (const ProbeRung* const rung : rungs) {
        // What is below: the rungs of no one GPU, and those of this one.
        const bool is_broken_below = std::ranges::any_of(steps, [&](const Placed& placed) {
            return placed.step < rung->step && facts::is_quick(placed.step) && is_broken(placed) &&
                   (!placed.gpu || !rung->gpu || placed.gpu == rung->gpu);
        });
        steps.push_back(
            {rung->step, rung->gpu, rung->took_ms, judge_rung(scene, *rung, is_broken_below)});
    }
}

// "cudnn crashed": the rung that a child was lost on.
std::string loss_at(ProbeStep step, Ending ending) {
    return fmt::format("{} {}", word_of(step),
                       ending == Ending::Crashed    ? "crashed"
                       : ending == Ending::TimedOut ? "hung"
                                                    : "failed");
}

// What was asked and never reported. The first of it is where a child was lost that left no rung
// open; the rest was not reached.
void Ladder::fill_gaps() {
    const Ending ending = scene.report->ending;
    const bool was_lost = ending != Ending::Finished;
    std::optional<ProbeStep> lost_at; // what ended the child, which a rung that failed did not
    for (const ProbeRung& rung : scene.report->rungs) {
        if (rung.result == ProbeResult::Unfinished) {
            lost_at = rung.step;
        }
    }
    bool is_explained = !was_lost || lost_at;
    for (const facts::RungRow& rung : facts::k_rungs) {
        if (facts::is_built(rung.step) ||
            (rung.depth == facts::RungDepth::Full && !scene.context->full)) {
            continue;
        }
        const ProbeStep step = rung.step;
        std::vector<std::optional<int>> gpus{std::nullopt};
        if (rung.reach == facts::RungReach::EachGpu && !scene.gpus.empty()) {
            gpus.clear();
            for (const auto& [ordinal, of_gpu] : scene.gpus) {
                gpus.emplace_back(ordinal);
            }
        }
        for (const auto& gpu : gpus) {
            if (reported(step, gpu)) {
                continue;
            }
            if (!is_explained) {
                is_explained = true;
                lost_at = step;
                steps.push_back({step, gpu, 0, explain_ending(scene, step)});
                continue;
            }
            if (step == ProbeStep::Gpu && first_failure() == nullptr) {
                steps.push_back({step, gpu, 0, explain_no_device(scene, "0 devices")});
                continue;
            }
            const Placed* const failure = first_failure();
            std::string why = "not reached";
            if (was_lost && lost_at && *lost_at <= step) {
                why += ": " + loss_at(*lost_at, ending);
            } else if (failure != nullptr && failure->step <= step) {
                why += fmt::format(": {} failed", word_of(failure->step));
            }
            steps.push_back({step, gpu, 0, skipped(std::move(why))});
        }
    }
    if (!is_explained) {
        // All that was asked is there, and yet the last line is missing.
        const ProbeStep step = steps.empty() ? ProbeStep::Library : steps.back().step;
        steps.push_back({step, std::nullopt, 0, explain_ending(scene, step)});
    }
    std::ranges::stable_sort(steps, [](const Placed& a, const Placed& b) {
        return std::tuple(a.step, a.gpu.value_or(-1)) < std::tuple(b.step, b.gpu.value_or(-1));
    });
}

// All was climbed, and the child did not exit properly afterwards.
void Ladder::note_farewell() {
    const facts::ProbeReport& report = *scene.report;
    if (report.ending != Ending::Finished || report.failure.empty() || steps.empty() ||
        first_failure() != nullptr) {
        return;
    }
    const auto last = std::find_if(steps.rbegin(), steps.rend(), [](const Placed& placed) {
        return placed.finding.status == StepStatus::Ok;
    });
    if (last == steps.rend()) {
        return;
    }
    last->finding = explain_farewell(scene, last->finding.text.title);
}

std::vector<Placed> Ladder::climb() {
    judge_reported();
    fill_gaps();
    note_farewell();
    return std::move(steps);
}

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

// ProbeOutcome::not_looked_at.
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

// What was said of a build that failed.
std::string words_of_build(const facts::ProbeReport& report, const Placed& placed) {
    const auto rung = std::ranges::find_if(
        report.rungs, [&](const facts::ProbeRung& one) { return one.step == placed.step; });
    const bool has_failed = facts::is_built(placed.step) &&
                            placed.finding.status == StepStatus::Fails &&
                            rung != report.rungs.end();
    return has_failed ? rung->message : std::string();
}

} // namespace

ProbeOutcome judge_probe(const facts::ProbeReport& report, const ProbeContext& context) {
    const Scene scene = look_at(report, context);
    const std::vector<Placed> steps = Ladder{scene}.climb();
    ProbeOutcome outcome;
    outcome.verdict = verdict_of(steps);
    outcome.summary = summary_of(scene, steps, outcome.verdict);
    for (const Placed& placed : steps) {
        JudgedStep step;
        step.name = word_of(placed.step);
        step.status = placed.finding.status;
        facts::Finding text = placed.finding.text;
        step.code = std::move(text.code);
        step.situation = std::move(text.situation);
        step.arguments = std::move(text.arguments);
        step.detail = std::move(text.title);
        step.cause = std::move(text.cause);
        step.fix = std::move(text.fix);
        step.took_ms = placed.took_ms;
        step.gpu = placed.gpu;
        step.output = words_of_build(report, placed);
        step.machine_is_right = placed.finding.machine_is_right;
        const bool fails = step.status == StepStatus::Fails;
        step.of_the_moment = fails && placed.finding.of_the_moment;
        step.in_use = fails && placed.finding.verdict == ProbeVerdict::Busy;
        outcome.steps.push_back(std::move(step));
    }
    outcome.not_looked_at = not_looked_at(scene, steps);
    const bool has_driver = std::ranges::any_of(
        steps, [](const Placed& placed) { return is_right(placed, facts::ProbeStep::Driver); });
    if (has_driver) {
        outcome.driver_cuda = scene.driver_cuda;
    }
    outcome.runtime = scene.runtime;
    for (const facts::ProbeRung& rung : report.rungs) {
        if (rung.step == facts::ProbeStep::Cudnn && rung.version) {
            outcome.cudnn = ProbeVersion{*rung.version, rung.path};
        }
        if (rung.step == facts::ProbeStep::Build && rung.version) {
            outcome.nvcc = ProbeVersion{*rung.version, rung.path};
        }
    }
    return outcome;
}

} // namespace cudaenv::judge
