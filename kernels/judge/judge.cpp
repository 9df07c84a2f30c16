#include "kernels/judge/judge.hpp"

#include "kernels/judge/verdict.hpp"

#include <algorithm>

namespace cudaenv::judge {

namespace {

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
    const std::vector<Placed> steps = climb(scene);
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
