#include "daemon/probe/probe.hpp"

#include "base/text.hpp"
#include "daemon/host_of_request.hpp"
#include "daemon/probe/building.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "host/driver.hpp"
#include "host/platform.hpp"
#include "host/probe/closed_files.hpp"
#include "host/probe/driver_files.hpp"
#include "host/probe/probe_report.hpp"
#include "host/process.hpp"

#include <algorithm>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

using std::chrono::seconds;

// cuInit takes seconds for each GPU of a machine without persistence mode, a context a tenth of
// one; an answer that has not come by then does not come.
constexpr seconds k_quick{20};
constexpr seconds k_quick_each{10}; // of the GPUs beyond the first
// PTX is compiled without the driver's cache, and cuBLAS and cuDNN load a gigabyte of kernels, from
// a network's disk at worst: the first time; to each GPU from memory.
constexpr seconds k_full{120};
constexpr seconds k_full_each{30};
// No machine has more; with as many everything ends before a client gives up (cli/ask.cpp).
constexpr std::size_t k_most_gpus = 32;

// The driver and the GPUs as the kernel's files have them; nothing is started.
facts::Host host_of_files(host::FileSystem& files, const protocol::Caller& caller) {
    host::NoProcesses processes;
    auto driver = host::find_driver(files, processes, caller.environment, {});
    facts::Host host;
    host.driver = std::move(driver.driver);
    host.driver_absent = std::move(driver.driver_absent);
    host.gpus = std::move(driver.gpus);
    host.gpus_absent = std::move(driver.gpus_absent);
    host.notes = std::move(driver.notes);
    auto platform = host::find_platform(files, caller.environment, host::system_identity());
    host.platform = std::move(platform.platform);
    host.distribution = std::move(platform.distribution);
    return host;
}

// The library that was loaded in place of a broken link is not the intended one.
void name_broken_links(judge::ProbeOutcome& outcome, const probe::ProbeLibraries& libraries) {
    for (judge::JudgedStep& step : outcome.steps) {
        const auto rung = facts::step_of_word(step.name);
        const auto* const library = rung ? facts::probed_library(*rung) : nullptr;
        if (library == nullptr) {
            continue;
        }
        const std::string begin = '/' + std::string(library->file) + ".so.";
        const auto link = std::ranges::find_if(libraries.broken_links, [&](const auto& path) {
            return path.find(begin, path.rfind('/')) != std::string::npos;
        });
        if (link != libraries.broken_links.end()) {
            step.detail += (step.detail.empty() ? "" : "; ") + *link + " is a broken link";
        }
    }
}

// What the report is judged by besides itself; it points into `run` and `environment`.
judge::ProbeContext context_of(const ProbeRun& run,
                               const std::optional<facts::EnvironmentFacts>& environment,
                               const ProbeWishes& wishes, const protocol::Caller& caller,
                               const std::vector<std::string>& library_path, bool device_files) {
    judge::ProbeContext context;
    context.host = &run.host;
    if (environment) {
        context.environment = &*environment;
        context.environment_name = environment->prefix.substr(environment->prefix.rfind('/') + 1);
        context.environment_is_active = caller.variable("CONDA_PREFIX") == environment->prefix ||
                                        caller.variable("VIRTUAL_ENV") == environment->prefix;
    }
    context.library_path = library_path;
    context.visible_devices = caller.variable("CUDA_VISIBLE_DEVICES");
    context.device_files = device_files;
    context.passed_over = run.libraries.passed_over;
    context.full = wishes.full;
    for (const char* name : {"LD_AUDIT", "LD_PRELOAD"}) {
        if (!caller.variable(name).value_or("").empty()) {
            context.preloads = name;
        }
    }
    context.closed_devices = probe::closed_devices();
    context.closed_libraries = probe::closed_libraries(run.libraries, library_path);
    return context;
}

tl::unexpected<Error> stopped() {
    return unavailable("stopped", "the probe was stopped: its client is gone, or cudaenvd was "
                                  "stopped");
}

} // namespace

seconds ladder_deadline(bool full, std::size_t gpus) {
    const auto more = static_cast<int>(std::clamp<std::size_t>(gpus, 1, k_most_gpus) - 1);
    return full ? k_full + more * k_full_each : k_quick + more * k_quick_each;
}

protocol::Caller asking_for(protocol::Caller caller, const ProbeWishes& wishes) {
    caller.environment.erase("CUDAENV_DISABLE");
    if (wishes.all_gpus) {
        caller.environment.erase("CUDA_VISIBLE_DEVICES");
    }
    return caller;
}

Result<ProbeRun> run_probe(const Activation& activation, const ProbeWishes& wishes,
                           const protocol::Caller& caller, Machine& machine, const Waiter& waiter) {
    const std::string program = probe_beside_this_program();
    if (program.empty()) {
        return unavailable("no-probe", "cudaenv-probe is not beside cudaenvd",
                           "reinstall cudaenv, which contains it");
    }
    if (waiter.is_gone()) { // while it waited for its turn
        return stopped();
    }
    host::DiskFileSystem files;
    host::ChildProcessRunner processes(waiter.stop_event);
    const auto& environment = activation.situation.environment;
    const auto tokens = probe::loader_tokens(files, environment);
    const auto library_path = probe::loader_directories(
        caller.variable("LD_LIBRARY_PATH").value_or(""), caller.cwd, tokens);
    BuildTools tools = build_tools_of(activation, files, machine, caller);

    ProbeRun run;
    run.host = host_of_files(files, caller);
    run.host.compilers = activation.situation.host.compilers;
    run.host.toolkits = activation.situation.host.toolkits;
    run.libraries = probe::probe_libraries(files, environment, tools.layout, library_path);
    run.grounds =
        grounds_before(files, run.libraries, wishes.full,
                       tools.layout ? tools.layout->bin + "/nvcc" : "", run.host.compilers);
    // Before the child runs: libcuda makes nodes for root.
    const bool device_files = host::has_gpu_device(files);
    const probe::ProbeRequest request{wishes.full ? probe::ProbeDepth::Full
                                                  : probe::ProbeDepth::Quick,
                                      wishes.all_gpus, run.libraries, ::getpid()};
    probe::LadderProgress progress([&waiter](std::string_view step, std::optional<int> gpu) {
        waiter.tell({std::string(step), gpu});
    });
    run.report = probe::read_probe_report(processes.run(
        {{program, "--ladder", probe::write_probe_request(request)},
         child_environment({caller.environment.begin(), caller.environment.end()}, caller, tokens),
         [&progress](std::string_view part) { progress.read(part); }},
        ladder_deadline(wishes.full, run.host.gpus.size())));
    if (waiter.is_gone()) {
        return stopped();
    }
    const judge::ProbeContext context =
        context_of(run, environment, wishes, caller, library_path, device_files);
    probe::learn_mig_mode(processes, program, {"LD_LIBRARY_PATH=" + join(library_path, ":")},
                          run.report, run.host.gpus);
    run.ladder = judge::judge_probe(run.report, context);
    if (wishes.build) {
        add_build_rungs(run.report, activation, std::move(tools), caller, run.host.gpus.size(),
                        processes, waiter);
        if (waiter.is_gone()) {
            return stopped();
        }
        run.outcome = judge::judge_probe(run.report, context);
    } else {
        run.outcome = run.ladder;
    }
    name_broken_links(run.outcome, run.libraries);
    return run;
}

} // namespace cudaenv::daemon
