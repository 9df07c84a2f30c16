#include "solver/plan/probe/judge.hpp"

#include "solver/plan/probe/scene.hpp"
#include "solver/plan/probe/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace cudaenv::plan {

namespace {

using facts::ProbeResult;
using facts::ProbeRung;
using facts::ProbeStep;
using probe::Finding;
using probe::Placed;
using probe::Scene;
using Ending = facts::ProbeReport::Ending;

bool is_per_gpu(ProbeStep step) {
    switch (step) {
    case ProbeStep::Memory:
    case ProbeStep::Kernel:
    case ProbeStep::Ptx:
    case ProbeStep::PtxRuntime:
    case ProbeStep::Nvrtc:
    case ProbeStep::Cublas:
    case ProbeStep::Cudnn:
        return true;
    default:
        return false;
    }
}

Finding right(std::string detail) {
    return {{}, StepStatus::Ok, std::move(detail), {}, std::nullopt, ProbeVerdict::Ok};
}

Finding skipped(std::string detail) {
    return {{}, StepStatus::Skipped, std::move(detail), {}, std::nullopt, ProbeVerdict::Ok};
}

// --- what was right -----------------------------------------------------------------------------

std::string gpu_detail(const ProbeRung& rung) {
    std::string text = rung.name.empty() ? std::string("a GPU") : probe::one_line(rung.name, 48);
    if (rung.compute_capability) {
        text += ", " + rung.compute_capability->sm();
    }
    if (rung.mig || rung.uuid.starts_with("MIG-")) {
        text += ", a MIG instance";
    }
    // Why it is only tried quickly.
    return rung.message.empty() ? text : text + "; " + probe::one_line(rung.message, 48);
}

std::string runtime_detail(const Scene& scene) {
    const std::string version =
        scene.runtime ? scene.runtime->version.major_minor() : std::string("a CUDA runtime");
    const auto* const environment = scene.context->environment;
    const std::string path = scene.runtime ? scene.runtime->path : std::string();
    if (environment == nullptr) {
        return path.empty() ? version
                            : version + " of " + probe::one_line(probe::directory_of(path), 60);
    }
    const bool is_own =
        path.starts_with(environment->prefix + "/") ||
        std::any_of(environment->site_packages.begin(), environment->site_packages.end(),
                    [&](const auto& directory) { return path.starts_with(directory + "/"); });
    return is_own || path.empty()
               ? version + " of this env"
               : version + ", not of this env: " + probe::one_line(probe::directory_of(path), 60);
}

std::string with_version(const ProbeRung& rung, std::string_view words) {
    return rung.version ? fmt::format("{}, {}", rung.version->str(), words) : std::string(words);
}

std::string detail_of(const Scene& scene, const ProbeRung& rung) {
    switch (rung.step) {
    case ProbeStep::Library:
        return rung.path.empty() ? "libcuda.so.1" : probe::file_name(rung.path);
    case ProbeStep::Driver: {
        const auto& version = rung.version    ? rung.version
                              : scene.library ? scene.library
                                              : scene.module;
        return fmt::format("{} gives CUDA {}", version ? version->str() : "the driver",
                           scene.driver_cuda->str());
    }
    case ProbeStep::Gpu:
        return gpu_detail(rung);
    case ProbeStep::Runtime:
        return runtime_detail(scene);
    case ProbeStep::Memory:
        return "allocate, copy, compare";
    case ProbeStep::Kernel: {
        const auto capability = scene.capability(rung.gpu);
        if (rung.architecture.starts_with("compute_")) {
            return fmt::format("PTX for {} compiled by the driver, result right",
                               probe::one_line(rung.architecture, 16));
        }
        const std::string made_for = !rung.architecture.empty()
                                         ? probe::one_line(rung.architecture, 16)
                                     : capability ? capability->sm()
                                                  : std::string("this GPU");
        return fmt::format("machine code for {}, result right", made_for);
    }
    case ProbeStep::Ptx:
        return fmt::format("PTX{} compiled by the driver, result right",
                           rung.isa ? " " + rung.isa->str() : "");
    case ProbeStep::PtxRuntime:
        return fmt::format("PTX{}{} taken, result right", rung.isa ? " " + rung.isa->str() : "",
                           scene.runtime ? " of CUDA " + scene.runtime->version.major_minor() : "");
    case ProbeStep::Nvrtc:
        return with_version(rung, "compiles, and the driver runs it");
    case ProbeStep::Cublas:
        return with_version(rung, "products right");
    case ProbeStep::Cudnn:
        return with_version(
            rung, rung.cuda ? fmt::format("for CUDA {}, convolution right", rung.cuda->str())
                            : std::string("convolution right"));
    case ProbeStep::Nccl:
        return with_version(rung, rung.devices
                                      ? fmt::format("sums over {} GPUs right", *rung.devices)
                                      : std::string("sums right"));
    case ProbeStep::Build:
        return rung.version ? fmt::format("nvcc {}: compiles, links, runs", rung.version->str())
                            : std::string("compiles, links, runs");
    case ProbeStep::TorchExtension:
        return "an extension for this torch builds and runs";
    }
    return {};
}

// --- one rung -----------------------------------------------------------------------------------

Finding judge_right(const Scene& scene, const ProbeRung& rung) {
    switch (rung.step) {
    case ProbeStep::Library:
        if (auto finding = probe::explain_unfound_driver(rung)) {
            return std::move(*finding);
        }
        if (auto finding = probe::explain_working_mismatch(scene); finding && scene.driver_cuda) {
            return std::move(*finding);
        }
        break;
    case ProbeStep::Driver:
        // A stub says 0, a damaged driver anything; the first CUDA whose drivers count as here
        // is 5.
        if (!scene.driver_cuda || scene.driver_cuda->major() < 5 ||
            scene.driver_cuda->major() > 99 || scene.driver_cuda->minor() > 30) {
            return probe::explain_implausible(
                scene, scene.driver_cuda
                           ? fmt::format("the driver gives CUDA \"{}\", which is none",
                                         probe::one_line(scene.driver_cuda->str(), 24))
                           : "the driver does not say which CUDA it gives");
        }
        break;
    case ProbeStep::Gpu:
        if (rung.compute_mode == 2) {
            ProbeRung prohibited = rung;
            prohibited.call = probe::k_compute_mode;
            return probe::explain_left_alone(scene, prohibited);
        }
        break;
    case ProbeStep::Runtime:
        if (scene.runtime && scene.driver_cuda &&
            *scene.driver_cuda < DottedVersion::of(scene.runtime->version.major_minor())) {
            return probe::explain_ceiling(scene, fmt::format("{} on a driver for {}",
                                                             scene.runtime->version.major_minor(),
                                                             scene.driver_cuda->str()));
        }
        if (auto finding = probe::explain_other_driver(scene, rung)) {
            return std::move(*finding);
        }
        break;
    case ProbeStep::Kernel:
        if (auto finding = probe::explain_forced_ptx(rung)) {
            return std::move(*finding);
        }
        if (auto finding = probe::explain_unserved(scene, rung)) {
            return std::move(*finding);
        }
        break;
    case ProbeStep::Cudnn:
        if (auto finding = probe::explain_foreign_cudnn(scene, rung)) {
            return std::move(*finding);
        }
        break;
    case ProbeStep::TorchExtension:
        if (auto finding = probe::explain_build_warning(scene, rung)) {
            return std::move(*finding);
        }
        break;
    default:
        break;
    }
    return right(detail_of(scene, rung));
}

Finding judge_failed(const Scene& scene, const ProbeRung& rung) {
    const bool by_loader = rung.call.starts_with("dl") || (!rung.error && rung.error_name.empty());
    const auto error = probe::cuda_error(rung);
    switch (rung.step) {
    case ProbeStep::Library:
        if (!by_loader && error) {
            return probe::explain_driver_error(scene, rung, *error);
        }
        return probe::explain_missing_driver(scene, rung);
    case ProbeStep::Driver:
        if (!by_loader) {
            return probe::explain_driver_error(scene, rung, error.value_or(999));
        }
        break;
    case ProbeStep::PtxRuntime:
        if (error == 222) {
            return probe::explain_ceiling(
                scene, fmt::format("PTX{} is refused (222)",
                                   rung.isa ? " " + rung.isa->str() : std::string()));
        }
        break;
    case ProbeStep::Nvrtc:
        if (error == 222 &&
            (scene.machine_code_ran ||
             probe::contains(rung.message, "machine code of the same source ran"))) {
            Finding finding = probe::explain_ceiling(scene, "NVRTC's PTX is refused (222)");
            finding.code = "CE343";
            finding.cause = "this NVRTC is newer than the driver's CUDA; what it compiles for a "
                            "GPU itself (sm_, not compute_) runs";
            return finding;
        }
        [[fallthrough]];
    case ProbeStep::Cublas:
    case ProbeStep::Cudnn:
    case ProbeStep::Nccl:
        return by_loader ? probe::explain_loading(scene, rung)
                         : probe::explain_library_status(scene, rung);
    case ProbeStep::Build:
    case ProbeStep::TorchExtension:
        return probe::explain_build(scene, rung);
    default:
        break;
    }
    if (by_loader && rung.step == ProbeStep::Runtime) {
        return probe::explain_loading(scene, rung);
    }
    if (by_loader && !rung.message.empty()) {
        return probe::explain_missing_driver(scene, rung); // a function of libcuda's
    }
    return probe::explain_cuda_error(scene, rung, error.value_or(999));
}

// The name of the error, which people search for, where the line has room for it.
Finding with_name(Finding finding, const ProbeRung& rung) {
    constexpr std::size_t k_room = 86; // of 100 columns, beside the step and its mark
    const std::string name = probe::one_line(rung.error_name, 48);
    if (!name.empty() && !probe::contains(finding.detail, name) &&
        finding.detail.size() + name.size() + 3 <= k_room) {
        finding.detail += " (" + name + ")";
    }
    return finding;
}

Finding judge_wrong(const Scene& scene, const ProbeRung& rung) {
    if (rung.step <= ProbeStep::Gpu) {
        return probe::explain_implausible(scene, rung.message.empty()
                                                     ? "the driver's answer makes no sense"
                                                     : probe::one_line(rung.message, 80));
    }
    return probe::failure(
        "CE336",
        fmt::format("WRONG RESULT on {}{}", scene.gpu(rung.gpu),
                    rung.message.empty() ? "" : ": " + probe::one_line(rung.message, 44)),
        "the GPU computes something else than the CPU, without an error: trust no result of "
        "it until it is found why (memory, overclocking, heat, a damaged library)",
        StepFix{"keep jobs off it, and test it: NVIDIA's dcgmi diag, compute-sanitizer",
                "sudo dmesg | grep -i xid; dcgmi diag -r 3"});
}

Finding judge_skipped(const Scene& scene, const ProbeRung& rung, bool is_broken_below) {
    const std::string said = rung.message.empty() ? "not tried" : probe::one_line(rung.message, 80);
    switch (rung.step) {
    case ProbeStep::Library:
        return probe::explain_missing_driver(scene, rung);
    case ProbeStep::Gpu:
        if (!is_broken_below && !rung.gpu) {
            return probe::explain_no_device(scene, "0 devices");
        }
        break;
    case ProbeStep::Runtime:
        if (!is_broken_below) {
            return probe::explain_missing_library(scene, rung);
        }
        break;
    case ProbeStep::Nvrtc:
    case ProbeStep::Cublas:
    case ProbeStep::Cudnn:
    case ProbeStep::Nccl:
        // "no cuDNN was found"; the other reasons are a GPU's: alone, out of reach, broken by then.
        if (!is_broken_below && (rung.message.empty() || rung.message.ends_with(" was found"))) {
            return probe::explain_missing_library(scene, rung);
        }
        break;
    case ProbeStep::Build:
    case ProbeStep::TorchExtension:
        return probe::explain_untried_build(rung);
    default:
        break;
    }
    return skipped(said);
}

Finding judge_rung(const Scene& scene, const ProbeRung& rung, bool is_broken_below) {
    if (rung.result != ProbeResult::Ok && probe::is_left_alone(rung)) {
        // A prohibited GPU was told at its own rung.
        return is_broken_below ? skipped("left alone") : probe::explain_left_alone(scene, rung);
    }
    switch (rung.result) {
    case ProbeResult::Ok:
        return judge_right(scene, rung);
    case ProbeResult::Failed:
        return with_name(judge_failed(scene, rung), rung);
    case ProbeResult::Wrong:
        return judge_wrong(scene, rung);
    case ProbeResult::Skipped:
        return judge_skipped(scene, rung, is_broken_below);
    case ProbeResult::Unfinished:
        break;
    }
    return probe::explain_ending(scene, rung.step);
}

// --- the ladder ---------------------------------------------------------------------------------

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
    return std::any_of(m_steps.begin(), m_steps.end(), [&](const Placed& placed) {
        // A library that is not there is told once for all GPUs.
        const bool is_of_all = step >= ProbeStep::Nvrtc || !placed.gpu || !gpu;
        return placed.step == step && (is_of_all || placed.gpu == gpu);
    });
}

const Placed* Ladder::first_failure() const {
    const auto found = std::find_if(m_steps.begin(), m_steps.end(), [](const Placed& placed) {
        return placed.finding.status == StepStatus::Fails;
    });
    return found == m_steps.end() ? nullptr : &*found;
}

void Ladder::judge_reported() {
    std::vector<const ProbeRung*> rungs;
    for (const ProbeRung& rung : m_scene.report->rungs) {
        rungs.push_back(&rung);
    }
    std::stable_sort(rungs.begin(), rungs.end(), [](const auto* a, const auto* b) {
        return std::tuple(a->step, a->gpu.value_or(-1)) < std::tuple(b->step, b->gpu.value_or(-1));
    });
    for (const ProbeRung* const rung : rungs) {
        // What is below: the rungs of no one GPU, and those of this one.
        const bool is_broken_below =
            std::any_of(m_steps.begin(), m_steps.end(), [&](const Placed& placed) {
                return placed.step < rung->step && placed.step <= ProbeStep::Kernel &&
                       placed.finding.status == StepStatus::Fails &&
                       (!placed.gpu || !rung->gpu || placed.gpu == rung->gpu);
            });
        m_steps.push_back(
            {rung->step, rung->gpu, rung->took_ms, judge_rung(m_scene, *rung, is_broken_below)});
    }
}

// "cudnn crashed": the rung that a child was lost on.
std::string loss_at(ProbeStep step, Ending ending) {
    return fmt::format("{} {}", probe::word_of(step),
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
    const auto last = m_scene.context->full ? ProbeStep::Nccl : ProbeStep::Kernel;
    for (int i = 0; i <= static_cast<int>(last); ++i) {
        const auto step = static_cast<ProbeStep>(i);
        std::vector<std::optional<int>> gpus{std::nullopt};
        if (is_per_gpu(step) && !m_scene.gpus.empty()) {
            gpus.clear();
            for (const auto& [ordinal, rung] : m_scene.gpus) {
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
                m_steps.push_back({step, gpu, 0, probe::explain_ending(m_scene, step)});
                continue;
            }
            if (step == ProbeStep::Gpu && first_failure() == nullptr) {
                m_steps.push_back({step, gpu, 0, probe::explain_no_device(m_scene, "0 devices")});
                continue;
            }
            const Placed* const failure = first_failure();
            std::string why = "not reached";
            if (was_lost && lost_at && *lost_at <= step) {
                why += ": " + loss_at(*lost_at, ending);
            } else if (failure != nullptr && failure->step <= step) {
                why += fmt::format(": {} failed", probe::word_of(failure->step));
            }
            m_steps.push_back({step, gpu, 0, skipped(std::move(why))});
        }
    }
    if (!is_explained) {
        // All that was asked is there, and yet the last line is missing.
        const ProbeStep step = m_steps.empty() ? ProbeStep::Library : m_steps.back().step;
        m_steps.push_back({step, std::nullopt, 0, probe::explain_ending(m_scene, step)});
    }
    std::stable_sort(m_steps.begin(), m_steps.end(), [](const Placed& a, const Placed& b) {
        return std::tuple(a.step, a.gpu.value_or(-1)) < std::tuple(b.step, b.gpu.value_or(-1));
    });
}

// All was climbed, and the child did not end in peace afterwards.
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
    last->finding.code = "CE385";
    last->finding.status = StepStatus::Warns;
    last->finding.verdict = ProbeVerdict::Warns;
    last->finding.detail += "; then the driver did not let go";
    last->finding.cause = "the ladder was climbed; when the process ended, the driver hung or "
                          "broke: " +
                          probe::one_line(report.failure, 60);
    if (const std::string words = probe::last_words(report); !words.empty()) {
        last->finding.cause += "; its last words: " + words;
    }
    last->finding.fix = StepFix{"look at what the kernel says", "sudo dmesg | tail"};
}

std::vector<Placed> Ladder::climb() {
    judge_reported();
    fill_gaps();
    note_farewell();
    return std::move(m_steps);
}

} // namespace

ProbeOutcome judge_probe(const facts::ProbeReport& report, const ProbeContext& context) {
    const Scene scene = probe::look_at(report, context);
    const std::vector<Placed> steps = Ladder(scene).climb();
    ProbeOutcome outcome;
    outcome.verdict = probe::verdict_of(steps);
    outcome.summary = probe::summary_of(scene, steps, outcome.verdict);
    for (const Placed& placed : steps) {
        JudgedStep step;
        step.name = probe::word_of(placed.step);
        step.status = placed.finding.status;
        step.code = placed.finding.code;
        step.detail = placed.finding.detail;
        step.cause = placed.finding.cause;
        step.fix = placed.finding.fix;
        step.took_ms = placed.took_ms;
        step.gpu = placed.gpu;
        step.machine_is_right = placed.finding.machine_is_right;
        outcome.steps.push_back(std::move(step));
    }
    outcome.not_looked_at = probe::not_looked_at(scene, steps);
    const bool has_driver = std::any_of(steps.begin(), steps.end(), [](const Placed& placed) {
        return probe::is_right(placed, ProbeStep::Driver);
    });
    if (has_driver) {
        outcome.driver_cuda = scene.driver_cuda;
    }
    outcome.runtime = scene.runtime;
    for (const ProbeRung& rung : report.rungs) {
        if (rung.step == ProbeStep::Cudnn && rung.version) {
            outcome.cudnn = ProbeVersion{*rung.version, rung.path};
        }
        if (rung.step == ProbeStep::Build && rung.version) {
            outcome.nvcc = ProbeVersion{*rung.version, rung.path};
        }
    }
    return outcome;
}

} // namespace cudaenv::plan
