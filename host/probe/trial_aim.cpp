#include "host/probe/build_trial.hpp"

#include <algorithm>

namespace cudaenv::probe {

namespace {

bool ran_a_kernel(const facts::ProbeReport& report, std::optional<int> ordinal) {
    return std::ranges::any_of(report.rungs, [&](const facts::ProbeRung& rung) {
        return rung.step == facts::ProbeStep::Kernel && rung.gpu == ordinal &&
               rung.result == facts::ProbeResult::Ok;
    });
}

// As CUDA_VISIBLE_DEVICES takes it; empty where the driver gave no UUID.
std::string name_to_show(const facts::ProbeRung& gpu) {
    return gpu.mig && !gpu.uuid.starts_with("MIG-") ? std::string() : gpu.uuid;
}

// Why what was built does not run on that one, on which a kernel of the probe's did; empty: it
// does.
std::string why_not_on(const facts::ProbeRung& gpu) {
    const std::string name = "GPU " + std::to_string(gpu.gpu.value_or(0));
    const int mode = gpu.compute_mode.value_or(0);
    if (mode == 1 || mode == 3) {
        return name + " is in exclusive mode, so only the quick probe ran";
    }
    if (gpu.reason == facts::RungReason::Busy) {
        return name + " is " + gpu.message;
    }
    // What was built takes the first that it sees.
    return name_to_show(gpu).empty() && gpu.gpu.value_or(0) != 0
               ? "the driver gives " + name + " no UUID, so it cannot be selected"
               : std::string();
}

} // namespace

void aim(BuildTrial& trial, const facts::ProbeReport& report) {
    for (const facts::ProbeRung& rung : report.rungs) {
        if (rung.step == facts::ProbeStep::Gpu && rung.compute_capability &&
            std::ranges::find(trial.gpus, *rung.compute_capability) == trial.gpus.end()) {
            trial.gpus.push_back(*rung.compute_capability);
        }
    }
    std::ranges::sort(trial.gpus);
    trial.not_run = trial.gpus.empty() ? "no GPU was found here" : "no GPU here ran a kernel";
    std::optional<std::string> shown; // none: as the caller has it
    for (const facts::ProbeRung& gpu : report.rungs) {
        if (gpu.step != facts::ProbeStep::Gpu || !ran_a_kernel(report, gpu.gpu)) {
            continue;
        }
        trial.not_run = why_not_on(gpu);
        if (trial.not_run.empty()) {
            shown = name_to_show(gpu);
            break;
        }
    }
    if (!trial.not_run.empty()) {
        shown = ""; // torch's own extension runs where it sees any
    } else if (shown->empty()) {
        return;
    }
    std::erase_if(trial.environment, [](const std::string& variable) {
        return variable.starts_with("CUDA_VISIBLE_DEVICES=");
    });
    trial.environment.push_back("CUDA_VISIBLE_DEVICES=" + *shown);
}

} // namespace cudaenv::probe
