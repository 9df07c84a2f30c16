#include "solver/plan/probe/judge.hpp"

#include "solver/plan/probe/ladder.hpp"

#include <algorithm>

namespace cudaenv::plan {

namespace {

// What was said of a build that failed.
std::string words_of_build(const facts::ProbeReport& report, const probe::Placed& placed) {
    const auto rung =
        std::find_if(report.rungs.begin(), report.rungs.end(),
                     [&](const facts::ProbeRung& one) { return one.step == placed.step; });
    const bool is_told = placed.step >= facts::ProbeStep::Build &&
                         placed.finding.status == StepStatus::Fails && rung != report.rungs.end();
    return is_told ? rung->message : std::string();
}

} // namespace

ProbeOutcome judge_probe(const facts::ProbeReport& report, const ProbeContext& context) {
    const probe::Scene scene = probe::look_at(report, context);
    const std::vector<probe::Placed> steps = probe::climb(scene);
    ProbeOutcome outcome;
    outcome.verdict = probe::verdict_of(steps);
    outcome.summary = probe::summary_of(scene, steps, outcome.verdict);
    for (const probe::Placed& placed : steps) {
        JudgedStep step;
        step.name = probe::word_of(placed.step);
        step.status = placed.finding.status;
        step.code = placed.finding.code;
        step.detail = placed.finding.detail;
        step.cause = placed.finding.cause;
        step.fix = placed.finding.fix;
        step.took_ms = placed.took_ms;
        step.gpu = placed.gpu;
        step.output = words_of_build(report, placed);
        step.machine_is_right = placed.finding.machine_is_right;
        const bool fails = step.status == StepStatus::Fails;
        step.of_the_moment = fails && placed.finding.of_the_moment;
        step.in_use = fails && placed.finding.verdict == ProbeVerdict::Busy;
        outcome.steps.push_back(std::move(step));
    }
    outcome.not_looked_at = probe::not_looked_at(scene, steps);
    const bool has_driver =
        std::any_of(steps.begin(), steps.end(), [](const probe::Placed& placed) {
            return probe::is_right(placed, facts::ProbeStep::Driver);
        });
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

} // namespace cudaenv::plan
