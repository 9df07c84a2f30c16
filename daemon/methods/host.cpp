#include "base/json_bytes.hpp"
#include "daemon/activation/activation.hpp"
#include "daemon/host_of_request.hpp"
#include "daemon/measured.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "host/probe/driver_files.hpp"
#include "host/probe/gpu_usage.hpp"
#include "host/process.hpp"
#include "kernels/judge/judge.hpp"
#include "protocol/json_field.hpp"
#include "solver/facts/host_json.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/toolkits.hpp"
#include "solver/resolve/outcome_json.hpp"

#include <algorithm>

namespace cudaenv::daemon {

namespace {

// The host's toolkits as JSON, each with "fits": made from what is in the object, so that the order
// is the same.
void add_fits(nlohmann::json& toolkits, const facts::Host& host) {
    for (std::size_t i = 0; i < host.toolkits.size(); ++i) {
        toolkits[i]["fits"] = fit_to_json(knowledge::toolkit_fit(host.toolkits[i], host));
    }
}

// The quick probe of this machine, kept like one that `cudaenv probe` asked for.
Result<facts::Measured> measure(const nlohmann::json& params, const protocol::Caller& caller,
                                Machine& machine, const Waiter& waiter) {
    const ProbeWishes wishes;
    const protocol::Caller asking = asking_for(caller, wishes);
    CUDAENV_TRY(const auto activation, activation_of(params, asking, machine));
    CUDAENV_TRY(const auto run, run_probe(activation, wishes, asking, machine, waiter));
    auto measured = measured_of(run, asking);
    keep_verdict(run, wishes, {activation.project, activation.situation.base, asking});
    keep_measured(measured, run, wishes, asking);
    return measured;
}

// --probe measures only this machine.
Result<void> refuse_described(const nlohmann::json& params, const protocol::Caller& caller) {
    const bool by_variable = !caller.variable("CUDAENV_HOST").value_or("").empty();
    for (const char* option : {"host", "driver", "gpu"}) {
        if (params.contains(option)) {
            return bad_input("usage", std::string("--probe measures this machine, --") + option +
                                          " describes another");
        }
    }
    return by_variable
               ? bad_input("usage", "--probe measures this machine, CUDAENV_HOST describes another",
                           "unset CUDAENV_HOST")
               : Result<void>();
}

using nlohmann::json;

// NVML answers in 30 ms on a sound machine.
constexpr std::chrono::seconds k_deadline{5};

json process_to_json(const probe::GpuProcess& process) {
    return {{"pid", process.pid},
            {"memory", value_or_null(process.memory)},
            {"kind", process.graphics ? "graphics" : "compute"},
            {"user", bytes_or_null(process.user)},
            {"command", bytes_or_null(process.command)},
            {"environment", bytes_or_null(process.environment)}};
}

json gpu_to_json(const probe::GpuUsage& gpu) {
    return {{"index", gpu.index},
            {"name", bytes_or_null(gpu.name)},
            {"uuid", bytes_or_null(gpu.uuid)},
            {"memory_total", value_or_null(gpu.memory_total)},
            {"memory_used", value_or_null(gpu.memory_used)},
            {"utilization", value_or_null(gpu.utilization)},
            {"temperature", value_or_null(gpu.temperature)},
            {"power", value_or_null(gpu.power)},
            {"mig", gpu.mig},
            {"processes", json_list(gpu.processes, process_to_json)}};
}

// NVML's library and the kernel module are of two versions: what the probe would say of libcuda,
// which is of the library's.
std::optional<facts::Finding> why_not_started(const probe::UsageNow& now, host::FileSystem& files) {
    constexpr int k_nvml_mismatch = 18;
    constexpr int k_cuda_mismatch = 803;
    if (now.start_error != k_nvml_mismatch) {
        return std::nullopt;
    }
    const probe::DriverFiles driver = probe::look_at_driver(files);
    facts::Host machine;
    machine.driver = facts::Driver{};
    machine.driver->version = driver.module;
    facts::ProbeReport as_if;
    as_if.rungs.resize(2);
    as_if.rungs[0].step = facts::ProbeStep::Library;
    as_if.rungs[0].path = driver.library;
    as_if.rungs[1].step = facts::ProbeStep::Driver;
    as_if.rungs[1].result = facts::ProbeResult::Failed;
    as_if.rungs[1].call = "nvmlInit";
    as_if.rungs[1].error = k_cuda_mismatch;
    judge::ProbeContext context;
    context.host = &machine;
    const auto outcome = judge::judge_probe(as_if, context);
    const auto step =
        std::ranges::find(outcome.steps, judge::StepStatus::Fails, &judge::JudgedStep::status);
    if (step == outcome.steps.end()) {
        return std::nullopt;
    }
    facts::Finding finding;
    finding.code = step->code;
    finding.severity = facts::Severity::Error;
    finding.title =
        driver.module && driver.library_version
            ? "the driver's library is " + driver.library_version->str() +
                  ", the loaded kernel module " + driver.module->str()
            : "the driver's library and the loaded kernel module have different versions";
    finding.cause = step->cause;
    if (step->fix) {
        finding.fix = facts::Fix{step->fix->text, step->fix->command};
    }
    return finding;
}

} // namespace

Result<protocol::Reply> host(const nlohmann::json& params, const protocol::Caller& caller,
                             Machine& machine, const Waiter& waiter) {
    CUDAENV_TRY(const bool facts_only, protocol::bool_field(params, "facts_only", false));
    CUDAENV_TRY(const bool probes, protocol::bool_field(params, "probe", false));
    std::optional<facts::Measured> measured;
    if (probes) {
        CUDAENV_TRY_VOID(refuse_described(params, caller));
        CUDAENV_TRY(measured, measure(params, caller, machine, waiter));
    }
    CUDAENV_TRY(auto found, host_of(params, caller));
    if (measured) { // also where nothing can be kept
        found = with_measured_for(caller, std::move(found), *std::move(measured));
    }
    nlohmann::json object = facts::to_json(found);
    if (!facts_only) {
        if (found.driver && !knowledge::driver_cuda(found)) {
            object["driver"]["note"] = knowledge::driver_text(found);
        }
        add_fits(object["toolkits"], found);
    }
    return protocol::Reply{0, std::move(object)};
}

Result<protocol::Reply> toolkits(const nlohmann::json& params, const protocol::Caller& caller,
                                 Machine&, const Waiter&) {
    CUDAENV_TRY(auto found, host_of(params, caller));
    nlohmann::json list = std::move(facts::to_json(found)["toolkits"]);
    add_fits(list, found);
    for (std::size_t i = 0; i < found.toolkits.size(); ++i) {
        facts::Host only_compilers;
        only_compilers.compilers = knowledge::compilers_for(found.toolkits[i], found);
        list[i]["compilers_here"] = facts::to_json(only_compilers)["compilers"];
    }
    return protocol::Reply{0, {{"schema", "cudaenv.toolkits/1"}, {"toolkits", std::move(list)}}};
}

Result<protocol::Reply> usage(const json&, const protocol::Caller& caller, Machine&,
                              const Waiter& waiter) {
    const std::string program = probe_beside_this_program();
    if (program.empty()) {
        return unavailable("no-probe",
                           "cudaenv-probe is not beside cudaenvd: install them together");
    }
    std::vector<std::string> environment;
    // Where the driver's libraries are, no more.
    for (const char* name : {"LD_LIBRARY_PATH", "PATH"}) {
        if (const auto value = caller.variable(name)) {
            environment.push_back(std::string(name) + '=' + *value);
        }
    }
    host::ChildProcessRunner children(waiter.stop_event);
    const auto outcome = children.run({{program, "--usage"}, std::move(environment)}, k_deadline);
    if (!outcome.failure.empty()) {
        return unavailable("bad-probe-answer", "cudaenv-probe did not answer: " + outcome.failure);
    }
    CUDAENV_TRY(auto now, probe::read_gpu_usage(outcome.output));
    host::DiskFileSystem files;
    probe::identify_processes(files, now);
    json findings = json::array();
    if (const auto finding = why_not_started(now, files)) {
        findings.push_back(resolve::to_json(*finding));
    }
    const int status = now.gpus.empty() ? 1 : 0;
    return protocol::Reply{status,
                           {{"schema", "cudaenv.usage/1"},
                            {"driver_version", bytes_or_null(now.driver_version)},
                            {"gpus", json_list(now.gpus, gpu_to_json)},
                            {"findings", std::move(findings)},
                            {"errors", now.errors}}};
}

} // namespace cudaenv::daemon
