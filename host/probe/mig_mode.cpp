#include "host/probe/mig_mode.hpp"

#include "host/probe_facts.hpp"

#include <algorithm>

namespace cudaenv::probe {

namespace {

constexpr std::chrono::seconds k_deadline{3};

bool showed_none(const facts::ProbeReport& report) {
    bool answered = false;
    for (const facts::ProbeRung& rung : report.rungs) {
        if (rung.step == facts::ProbeStep::Gpu && rung.gpu) {
            return false;
        }
        answered =
            answered ||
            (rung.step == facts::ProbeStep::Driver &&
             (rung.result == facts::ProbeResult::Ok || rung.error == 100 || rung.error == 101));
    }
    return answered && report.ending == facts::ProbeReport::Ending::Finished;
}

// A UUID that the driver has not read yet is written with question marks in /proc.
bool is_known(const std::string& uuid) {
    return !uuid.empty() && uuid.find('?') == std::string::npos;
}

} // namespace

void learn_mig_mode(host::ProcessRunner& processes, const std::string& program,
                    const std::vector<std::string>& environment, const facts::ProbeReport& report,
                    std::vector<facts::Gpu>& gpus) {
    if (!showed_none(report)) {
        return;
    }
    const auto nvml = host::parse_probe_facts(
        processes.run({{program, "--facts"}, environment}, k_deadline).output);
    if (!nvml) {
        return; // the judge says what it knows without
    }
    for (const facts::Gpu& gpu : nvml->gpus) {
        const auto same = std::ranges::find_if(gpus, [&](const facts::Gpu& known) {
            return is_known(known.uuid) && is_known(gpu.uuid) ? known.uuid == gpu.uuid
                                                              : known.index == gpu.index;
        });
        if (same == gpus.end()) {
            gpus.push_back(gpu);
        } else {
            same->mig = gpu.mig;
        }
    }
}

} // namespace cudaenv::probe
