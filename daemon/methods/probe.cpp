#include "daemon/probe/probe.hpp"

#include "base/json_bytes.hpp"
#include "daemon/activation/activation.hpp"
#include "daemon/measured.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "protocol/json_field.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::daemon {

namespace {

std::string_view name_of(judge::StepStatus status) {
    constexpr auto k_names = std::to_array<std::string_view>({"ok", "warns", "fails", "skipped"});
    return k_names.at(static_cast<std::size_t>(status));
}

nlohmann::json step_to_json(const judge::JudgedStep& step) {
    nlohmann::json fix;
    if (step.fix) {
        fix = {{"text", step.fix->text}, {"command", text_or_null(step.fix->command)}};
    }
    return {{"name", step.name},
            {"status", name_of(step.status)},
            {"code", text_or_null(step.code)},
            {"detail", step.detail},
            {"cause", text_or_null(step.cause)},
            {"output", text_or_null(step.output)},
            {"fix", std::move(fix)},
            {"took_ms", step.took_ms},
            {"gpu", value_or_null(step.gpu)}};
}

void add_version(nlohmann::json& object, const char* name,
                 const std::optional<judge::ProbeVersion>& found) {
    object[name] = found ? nlohmann::json(found->version.str()) : nlohmann::json();
    object[std::string(name) + "_path"] = found ? bytes_or_null(found->path) : nlohmann::json();
}

nlohmann::json outcome_to_json(const judge::ProbeOutcome& outcome) {
    nlohmann::json object = {{"schema", "cudaenv.probe/1"},
                             {"verdict", name_of(outcome.verdict)},
                             {"summary", outcome.summary},
                             {"steps", json_list(outcome.steps, step_to_json)},
                             {"driver_cuda", value_or_null(outcome.driver_cuda)}};
    add_version(object, "runtime", outcome.runtime);
    add_version(object, "cudnn", outcome.cudnn);
    add_version(object, "nvcc", outcome.nvcc);
    return object;
}

// What was tried with --build is there without a GPU as well.
bool builds_fail(const judge::ProbeOutcome& outcome) {
    return std::ranges::any_of(outcome.steps, [](const judge::JudgedStep& step) {
        return step.status == judge::StepStatus::Fails &&
               (step.name == "build" || step.name == "torch-extension");
    });
}

int exit_status(const judge::ProbeOutcome& outcome, bool allow_missing) {
    switch (outcome.verdict) {
    case judge::ProbeVerdict::Ok:
    case judge::ProbeVerdict::Warns:
        return 0;
    case judge::ProbeVerdict::NoDriver:
    case judge::ProbeVerdict::NoGpu:
        return allow_missing && !builds_fail(outcome) ? 0 : 1;
    default:
        return 1;
    }
}

} // namespace

Result<protocol::Reply> probe(const nlohmann::json& params, const protocol::Caller& caller,
                              Machine& machine, const Waiter& waiter) {
    ProbeWishes wishes;
    CUDAENV_TRY(wishes.full, protocol::bool_field(params, "full", false));
    CUDAENV_TRY(wishes.build, protocol::bool_field(params, "build", false));
    CUDAENV_TRY(wishes.all_gpus, protocol::bool_field(params, "all_gpus", false));
    CUDAENV_TRY(const bool allow_missing, protocol::bool_field(params, "allow_missing", false));
    const protocol::Caller asking = asking_for(caller, wishes);
    CUDAENV_TRY(const auto activation, activation_of(params, asking, machine));
    CUDAENV_TRY(const auto run, run_probe(activation, wishes, asking, machine, waiter));
    keep_verdict(run, wishes, {activation.project, activation.situation.base, asking});
    keep_measured(measured_of(run, asking), run, wishes, asking);
    nlohmann::json object = outcome_to_json(run.outcome);
    object["depth"] = wishes.full ? "full" : "quick";
    object["environment"] = bytes_or_null(activation.project.prefix);
    return protocol::Reply{exit_status(run.outcome, allow_missing), std::move(object)};
}

} // namespace cudaenv::daemon
