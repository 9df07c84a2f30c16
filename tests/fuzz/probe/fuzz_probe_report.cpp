// Any bytes as what cudaenv-probe wrote, however it ended: read within the bounds that the reader
// promises, and what is read can be judged.
#include "host/probe/probe_report.hpp"
#include "kernels/judge/judge.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

void check(const cudaenv::host::ChildOutcome& outcome) {
    const auto report = cudaenv::probe::read_probe_report(outcome);
    for (const auto& rung : report.rungs) {
        const bool is_within = rung.message.size() <= 4096 && std::isfinite(rung.took_ms) &&
                               rung.took_ms >= 0 && rung.gpu.value_or(0) >= 0 &&
                               rung.compute_mode.value_or(0) >= 0 && rung.devices.value_or(0) >= 0;
        if (!is_within) {
            std::abort();
        }
    }
    if (report.loaded.size() > 64) {
        std::abort();
    }
    for (const auto& file : report.loaded) {
        if (!file.starts_with('/') || file.size() > 4096) {
            std::abort();
        }
    }
    const auto judged = cudaenv::judge::judge_probe(report, {});
    if (judged.steps.empty() || judged.summary.find('\n') != std::string::npos) {
        std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    cudaenv::host::ChildOutcome outcome;
    outcome.started = true;
    // The fuzzer's bytes are text here.
    outcome.output.assign(reinterpret_cast<const char*>(data), size);
    outcome.error = outcome.output;
    outcome.exit_status = 0;
    check(outcome);
    outcome.exit_status = -1;
    outcome.timed_out = true;
    outcome.failure = "no answer within 10 ms, killed";
    check(outcome);
    outcome.timed_out = false;
    outcome.failure = "ended by signal 11";
    check(outcome);
    return 0;
}
