#include "base/ranges.hpp"
#include "kernels/judge/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace cudaenv::judge {

using facts::ProbeResult;
using facts::ProbeRung;
using facts::ProbeStep;
using Ending = facts::ProbeReport::Ending;

namespace {

class Ladder {
public:
    explicit Ladder(const Scene& scene) : m_scene(scene) {}

    std::vector<Placed> climb();

private:
    void judge_reported();
    void fill_gaps();
    void note_farewell();
    [[nodiscard]] bool reported(ProbeStep step, std::optional<int> gpu) const;
    [[nodiscard]] const Placed* first_failure() const;

    const Scene& m_scene;
    std::vector<Placed> m_steps;
};

bool Ladder::reported(ProbeStep step, std::optional<int> gpu) const {
    return std::ranges::any_of(m_steps, [&](const Placed& placed) {
        // An absent library is reported once for all GPUs.
        const bool is_of_all = facts::is_library(step) || !placed.gpu || !gpu;
        return placed.step == step && (is_of_all || placed.gpu == gpu);
    });
}

const Placed* Ladder::first_failure() const {
    return find_pointer_if(m_steps, is_broken);
}

void Ladder::judge_reported() {
    std::vector<const ProbeRung*> rungs;
    for (const ProbeRung& rung : m_scene.report->rungs) {
        rungs.push_back(&rung);
    }
    std::ranges::stable_sort(rungs, [](const auto* a, const auto* b) {
        return std::tuple(a->step, a->gpu.value_or(-1)) < std::tuple(b->step, b->gpu.value_or(-1));
    });
    for (const ProbeRung* const rung : rungs) {
        // What is below: the rungs of no one GPU, and those of this one.
        const bool is_broken_below = std::ranges::any_of(m_steps, [&](const Placed& placed) {
            return placed.step < rung->step && facts::is_quick(placed.step) && is_broken(placed) &&
                   (!placed.gpu || !rung->gpu || placed.gpu == rung->gpu);
        });
        m_steps.push_back(
            {rung->step, rung->gpu, rung->took_ms, judge_rung(m_scene, *rung, is_broken_below)});
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
    const Ending ending = m_scene.report->ending;
    const bool was_lost = ending != Ending::Finished;
    std::optional<ProbeStep> lost_at; // what ended the child, which a rung that failed did not
    for (const ProbeRung& rung : m_scene.report->rungs) {
        if (rung.result == ProbeResult::Unfinished) {
            lost_at = rung.step;
        }
    }
    bool is_explained = !was_lost || lost_at;
    for (const facts::RungRow& rung : facts::k_rungs) {
        if (facts::is_built(rung.step) ||
            (rung.depth == facts::RungDepth::Full && !m_scene.context->full)) {
            continue;
        }
        const ProbeStep step = rung.step;
        std::vector<std::optional<int>> gpus{std::nullopt};
        if (rung.reach == facts::RungReach::EachGpu && !m_scene.gpus.empty()) {
            gpus.clear();
            for (const auto& [ordinal, of_gpu] : m_scene.gpus) {
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
                m_steps.push_back({step, gpu, 0, explain_ending(m_scene, step)});
                continue;
            }
            if (step == ProbeStep::Gpu && first_failure() == nullptr) {
                m_steps.push_back({step, gpu, 0, explain_no_device(m_scene, "0 devices")});
                continue;
            }
            const Placed* const failure = first_failure();
            std::string why = "not reached";
            if (was_lost && lost_at && *lost_at <= step) {
                why += ": " + loss_at(*lost_at, ending);
            } else if (failure != nullptr && failure->step <= step) {
                why += fmt::format(": {} failed", word_of(failure->step));
            }
            m_steps.push_back({step, gpu, 0, skipped(std::move(why))});
        }
    }
    if (!is_explained) {
        // All that was asked is there, and yet the last line is missing.
        const ProbeStep step = m_steps.empty() ? ProbeStep::Library : m_steps.back().step;
        m_steps.push_back({step, std::nullopt, 0, explain_ending(m_scene, step)});
    }
    std::ranges::stable_sort(m_steps, [](const Placed& a, const Placed& b) {
        return std::tuple(a.step, a.gpu.value_or(-1)) < std::tuple(b.step, b.gpu.value_or(-1));
    });
}

// All was climbed, and the child did not exit properly afterwards.
void Ladder::note_farewell() {
    const facts::ProbeReport& report = *m_scene.report;
    if (report.ending != Ending::Finished || report.failure.empty() || m_steps.empty() ||
        first_failure() != nullptr) {
        return;
    }
    const auto last = std::find_if(m_steps.rbegin(), m_steps.rend(), [](const Placed& placed) {
        return placed.finding.status == StepStatus::Ok;
    });
    if (last == m_steps.rend()) {
        return;
    }
    last->finding = explain_farewell(m_scene, last->finding.text.title);
}

std::vector<Placed> Ladder::climb() {
    judge_reported();
    fill_gaps();
    note_farewell();
    return std::move(m_steps);
}

} // namespace

std::vector<Placed> climb(const Scene& scene) {
    return Ladder(scene).climb();
}

} // namespace cudaenv::judge
