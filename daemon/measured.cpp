#include "daemon/measured.hpp"

#include "daemon/probe/kept_verdict.hpp"
#include "host/project/project.hpp"
#include "solver/facts/host_json.hpp"
#include "solver/facts/measured.hpp"
#include "solver/facts/probe_rungs.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>

namespace cudaenv::daemon {

namespace {

using judge::ProbeVerdict;

// The store has an entry for each way in which a shell may see the machine; an environment's name
// begins with '/'.
probe::VerdictQuestion question_of(const protocol::Caller& caller) {
    probe::VerdictQuestion question = question_of_shell(caller);
    question.prefix = "machine";
    if (caller.variable("LD_LIBRARY_PATH").value_or("").find('$') != std::string::npos) {
        // $ORIGIN leads each environment elsewhere, maybe to another driver.
        question.shell += project::active_prefix(caller.environment);
    }
    return question;
}

bool is_of_machine(const std::string& word) {
    const auto step = facts::step_of_word(word);
    return step && facts::row_of(*step).of_machine;
}

// It runs through the environment's runtime, though it tests the GPU and the driver.
bool is_above_runtime(const facts::FailedRung& rung) {
    const auto step = facts::step_of_word(rung.step);
    return step && facts::row_of(*step).subject == facts::RungSubject::Gpu;
}

bool should_work(const ProbeRun& run, const protocol::Caller& caller) {
    switch (run.ladder.verdict) {
    case ProbeVerdict::Busy:
        return false;
    case ProbeVerdict::NoDriver:
        return run.host.driver.has_value();
    case ProbeVerdict::NoGpu:
        return !run.host.gpus.empty() && !caller.variable("CUDA_VISIBLE_DEVICES");
    default:
        return true;
    }
}

bool ran_well(const judge::ProbeOutcome& outcome, const char* name) {
    const auto step = std::ranges::find(outcome.steps, name, &judge::JudgedStep::name);
    return step != outcome.steps.end() &&
           (step->status == judge::StepStatus::Ok || step->status == judge::StepStatus::Warns);
}

// In the words of verdicts: a rung that failed because of the environment does not concern the
// machine.
std::string weight_of(const facts::Measured& measured, const ProbeRun& run) {
    if (!measured.failed.empty()) {
        return measured.verdict;
    }
    if (ran_well(run.ladder, "kernel")) {
        return "ok";
    }
    return probe::is_transient(measured.verdict) ? measured.verdict
                                                 : "warns"; // not all was reached
}

// As far as it is to be looked again to take it back. Of what failed at the quick ladder's rungs
// the full one knows no more.
probe::VerdictDepth depth_of(const facts::Measured& measured, const ProbeRun& run,
                             const ProbeWishes& wishes) {
    const bool beyond = measured.failed.empty()
                            ? std::ranges::none_of(run.ladder.not_looked_at, facts::is_beyond_quick)
                            : std::ranges::any_of(measured.failed, facts::is_beyond_quick,
                                                  &facts::FailedRung::step);
    return wishes.full && beyond ? probe::VerdictDepth::Full : probe::VerdictDepth::Quick;
}

std::string utc(std::time_t time) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

} // namespace

facts::Measured measured_of(const ProbeRun& run, const protocol::Caller& caller) {
    facts::Measured measured;
    measured.verdict = judge::name_of(run.ladder.verdict);
    measured.summary = run.ladder.summary;
    measured.at = utc(std::time(nullptr));
    if (ran_well(run.ladder, "driver")) { // else it is a number from who knows where
        measured.driver_cuda = run.ladder.driver_cuda;
    }
    if (run.ladder.runtime && ran_well(run.ladder, "runtime")) {
        measured.runtime = run.ladder.runtime->version;
    }
    for (const facts::ProbeRung& rung : run.report.rungs) {
        if (rung.step == facts::ProbeStep::Gpu && rung.compute_capability) {
            measured.gpus.push_back({rung.name, rung.uuid, rung.compute_capability});
        }
    }
    if (should_work(run, caller)) {
        for (const judge::JudgedStep& step : run.ladder.steps) {
            if (step.status == judge::StepStatus::Fails && is_of_machine(step.name) &&
                !step.machine_is_right && !step.in_use) {
                measured.failed.push_back({step.name, step.code, step.detail, step.cause});
            }
        }
    }
    return measured;
}

void keep_measured(const facts::Measured& measured, const ProbeRun& run, const ProbeWishes& wishes,
                   const protocol::Caller& caller) {
    const auto& left_out = run.ladder.not_looked_at;
    if (measured.failed.empty()) {
        // What did not get as far as the rung that failed says nothing against it.
        const bool kernel_ran = ran_well(run.ladder, "kernel");
        const auto earlier = kept_measured(caller);
        if (earlier && std::ranges::any_of(earlier->failed, [&](const facts::FailedRung& rung) {
                return !kernel_ran || std::ranges::find(left_out, rung.step) != left_out.end();
            })) {
            return;
        }
    }
    // A kernel that failed may be the runtime's fault after all: it holds while that stays.
    const bool with_runtime = std::ranges::any_of(measured.failed, is_above_runtime);
    std::vector<std::string> rests_on;
    for (const facts::ProbeRung& rung : run.report.rungs) {
        if (!rung.path.empty() && (rung.step == facts::ProbeStep::Library ||
                                   (with_runtime && rung.step == facts::ProbeStep::Runtime))) {
            rests_on.push_back(rung.path);
        }
    }
    if (with_runtime) {
        // Another one that appears is taken in its place, and what it opened may be at fault.
        for (const auto* list :
             {&run.libraries.looked_at, &run.libraries.broken_links, &run.report.loaded}) {
            rests_on.insert(rests_on.end(), list->begin(), list->end());
        }
    }
    if (changed_since(run.grounds, run.report.loaded)) {
        return;
    }
    // A facts file that says nothing else.
    facts::Host only_measured;
    only_measured.measured = measured;
    host::DiskFileSystem files;
    const probe::VerdictStore store = verdicts_of(caller);
    const probe::VerdictQuestion question = question_of(caller);
    probe::KeptVerdict kept;
    kept.verdict = weight_of(measured, run);
    kept.summary = facts::to_json(only_measured)
                       .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    kept.depth = depth_of(measured, run, wishes);
    kept.at = std::time(nullptr);
    if (!measured.failed.empty()) {
        kept.step = measured.failed.front().step;
        kept.code = measured.failed.front().code;
    }
    kept.of_the_moment = std::ranges::any_of(run.ladder.steps, [&](const judge::JudgedStep& step) {
        return step.of_the_moment &&
               std::ranges::any_of(measured.failed, [&](const facts::FailedRung& rung) {
                   return rung.step == step.name && rung.code == step.code;
               });
    });
    kept.left_out = left_out;
    store.keep(files, question, run.grounds, rests_on, kept);
}

std::optional<facts::Measured> kept_measured(const protocol::Caller& caller) {
    Looks looks(caller);
    return kept_measured(caller, looks);
}

std::optional<facts::Measured> kept_measured(const protocol::Caller& caller, Looks& looks) {
    const auto kept = looks.verdicts.find(question_of(caller), std::time(nullptr));
    if (!kept) {
        return std::nullopt;
    }
    auto host = facts::parse_host(kept->summary, "probes.json");
    return host ? std::move(host->measured) : std::nullopt;
}

facts::Host with_measured_for(const protocol::Caller& caller, facts::Host host,
                              facts::Measured measured) {
    return facts::with_measured(std::move(host), std::move(measured),
                                caller.variable("CUDA_VISIBLE_DEVICES") ? facts::UnknownGpus::Leave
                                                                        : facts::UnknownGpus::Add);
}

} // namespace cudaenv::daemon
