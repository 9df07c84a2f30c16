#include "daemon/probe/probe.hpp"

#include "base/text.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "daemon/probe/trial_directory.hpp"
#include "daemon/stop_event.hpp"
#include "daemon/this_host.hpp"
#include "host/driver.hpp"
#include "host/gpus.hpp"
#include "host/platform.hpp"
#include "host/probe/build_trial.hpp"
#include "host/probe/closed_files.hpp"
#include "host/probe/mig_mode.hpp"
#include "host/probe/probe_report.hpp"
#include "host/process.hpp"

#include <algorithm>
#include <tuple>
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
// --build, in all 300 s: nvcc and the linker on a busy machine; and torch's headers through a host
// compiler, of which a minute is usual on a slow one.
constexpr seconds k_program{100};
constexpr seconds k_extension{200};

class NoProcesses final : public host::ProcessRunner {
public:
    std::vector<host::ChildOutcome> run_all(std::span<const host::ChildCommand> commands,
                                            std::chrono::milliseconds) override {
        host::ChildOutcome outcome;
        outcome.failure = "not asked: the probe itself will tell";
        return std::vector<host::ChildOutcome>(commands.size(), outcome);
    }
};

// The driver and the GPUs as the kernel's files have them; nothing is started.
facts::Host host_of_files(host::FileSystem& files, const protocol::Caller& caller) {
    NoProcesses processes;
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

// What has to do with this program alone is not the children's. They run in another directory than
// the shell: what LD_LIBRARY_PATH has of relative entries is made absolute.
std::vector<std::string> as_list(plan::Variables variables, const ProbeWishes& wishes,
                                 const protocol::Caller& caller) {
    const bool all_gpus = wishes.all_gpus;
    if (const auto found = variables.find("LD_LIBRARY_PATH"); found != variables.end()) {
        found->second = join(host::loader_directories(found->second, caller.cwd), ":");
    }
    std::vector<std::string> list;
    for (const auto& [name, value] : variables) {
        if (!name.starts_with("CUDAENV_") && !name.starts_with("__") &&
            !(all_gpus && name == "CUDA_VISIBLE_DEVICES")) {
            list.push_back(name + '=' + value);
        }
    }
    return list;
}

// What activation would be if nothing but the machine said which toolkit: where no pin and no
// environment chooses, a compiler started by hand would be the one on PATH, or /usr/local/cuda's.
const facts::Toolkit* toolkit_at_hand(const facts::Host& host) {
    const auto rank = [](const facts::Toolkit& toolkit) {
        const bool usual =
            toolkit.path == "/usr/local/cuda" ||
            std::ranges::find(toolkit.aliases, "/usr/local/cuda") != toolkit.aliases.end();
        return toolkit.source == "CUDA_HOME" || toolkit.source == "CUDA_PATH" ? 3
               : toolkit.source == "PATH"                                     ? 2
               : usual                                                        ? 1
                                                                              : 0;
    };
    const facts::Toolkit* best = nullptr;
    for (const facts::Toolkit& toolkit : host.toolkits) {
        if (!toolkit.problem.empty() || !toolkit.version) {
            continue;
        }
        if (best == nullptr || std::tuple(toolkit.nvcc, rank(toolkit), *toolkit.version) >
                                   std::tuple(best->nvcc, rank(*best), *best->version)) {
            best = &toolkit;
        }
    }
    return best;
}

// The one that whoever types nvcc, or builds with CUDA_HOME, meets first and that does not even
// tell its version: to build with another in its place would show nothing. None where that one is
// sound.
const facts::Toolkit* broken_at_hand(const facts::Host& host, host::FileSystem& files,
                                     const protocol::Caller& caller) {
    const auto is_broken = [](const facts::Toolkit& toolkit) {
        return toolkit.nvcc && !toolkit.version;
    };
    for (const facts::Toolkit& toolkit : host.toolkits) {
        if (toolkit.source == "CUDA_HOME" || toolkit.source == "CUDA_PATH") {
            return is_broken(toolkit) ? &toolkit : nullptr;
        }
    }
    const std::string path = caller.variable("PATH").value_or("");
    for (const std::string_view entry : split(path, ':')) {
        const auto nvcc = files.real_path(std::string(entry) + "/nvcc");
        if (!entry.starts_with('/') || !nvcc) {
            continue;
        }
        const auto found = std::ranges::find_if(host.toolkits, [&](const auto& toolkit) {
            return *nvcc == toolkit.path + "/bin/nvcc";
        });
        return found != host.toolkits.end() && is_broken(*found) ? &*found : nullptr;
    }
    return nullptr;
}

// The toolkit, its parts and the compiler that what is built here would use.
struct Tools {
    std::optional<facts::Toolkit> toolkit;
    std::optional<facts::ToolkitLayout> layout;
    std::optional<facts::Compiler> host_compiler;
    plan::Variables variables; // activated
    std::string no_nvcc;
};

Tools tools_of(const Activation& activation, host::FileSystem& files, Machine& machine,
               const protocol::Caller& caller) {
    Tools tools;
    tools.variables = activation.applied.environment;
    if (!activation.choice.none()) {
        tools.toolkit = activation.choice.toolkit;
        tools.layout = activation.layout;
        tools.host_compiler = activation.composition.host_compiler;
        if (!tools.toolkit) {
            tools.no_nvcc = "there is no toolkit with nvcc here for CUDA " + activation.choice.cuda;
        }
    } else if (const auto* broken = broken_at_hand(activation.situation.host, files, caller)) {
        tools.toolkit = *broken;
        tools.layout = machine.layout(broken->path);
    } else if (const auto* toolkit = toolkit_at_hand(activation.situation.host)) {
        plan::CudaChoice choice;
        choice.rung = plan::Rung::System;
        choice.cuda = toolkit->version->major_minor();
        choice.toolkit = *toolkit;
        tools.toolkit = *toolkit;
        tools.layout = machine.layout(toolkit->path);
        const auto composition = plan::compose(activation.situation, choice, tools.layout);
        tools.host_compiler = composition.host_compiler;
        for (const plan::SetVariable& variable : composition.patch.variables) {
            tools.variables[variable.name] = variable.value;
        }
    } else {
        tools.no_nvcc = "there is no CUDA toolkit here";
    }
    if (tools.no_nvcc.empty() && (!tools.layout || tools.layout->bin.empty())) {
        tools.no_nvcc = tools.toolkit->path + " has no nvcc";
    }
    return tools;
}

// The environment's programs before those of the shell, as where it is active.
void put_bin_first(plan::Variables& variables, const std::string& prefix) {
    const std::string bin = prefix + "/bin";
    std::string& path = variables["PATH"];
    const auto entries = split(path, ':');
    if (std::ranges::find(entries, bin) == entries.end()) {
        path = path.empty() ? bin : bin + ':' + path;
    }
}

void add_build_rungs(facts::ProbeReport& report, const Activation& activation, Tools tools,
                     const ProbeWishes& wishes, const protocol::Caller& caller, std::size_t gpus,
                     host::ProcessRunner& processes, int stop_event) {
    const auto& environment = activation.situation.environment;
    const auto directory = TrialDirectory::make(caller.variable("TMPDIR").value_or(""));
    if (!directory) {
        report.rungs.push_back(host::unwritten_trial(directory.error().message));
        return;
    }
    host::BuildTrial trial;
    trial.directory = directory->path();
    trial.no_nvcc = tools.no_nvcc;
    if (tools.no_nvcc.empty()) {
        trial.nvcc = tools.layout->bin + "/nvcc";
        trial.version = tools.toolkit->version;
    }
    trial.host_compiler = tools.host_compiler;
    tools.variables["TMPDIR"] = trial.directory;
    if (environment) {
        put_bin_first(tools.variables, environment->prefix);
    }
    trial.environment = as_list(tools.variables, wishes, caller);
    trial.longest_run = ladder_deadline(false, gpus);
    host::aim(trial, report);
    report.rungs.push_back(host::try_program(trial, processes, k_program));
    if (is_stopped(stop_event)) {
        return;
    }
    const bool has_torch =
        environment && std::ranges::any_of(environment->frameworks, [](const auto& framework) {
            return framework.name == "torch";
        });
    if (has_torch) {
        report.rungs.push_back(host::try_torch_extension(trial, environment->prefix + "/bin/python",
                                                         processes, k_extension));
    }
}

// The library that was taken in a broken link's place is not the one that somebody meant.
void tell_broken_links(plan::ProbeOutcome& outcome, const host::ProbeLibraries& libraries) {
    for (plan::JudgedStep& step : outcome.steps) {
        const auto library = std::ranges::find_if(
            facts::k_probed_libraries, [&](const facts::ProbedLibrary& probed) {
                return step.name == facts::k_probe_steps.at(static_cast<std::size_t>(probed.step));
            });
        if (library == facts::k_probed_libraries.end()) {
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

tl::unexpected<Error> stopped() {
    return unavailable("stopped", "the probe was stopped: nobody waited for it any more, or "
                                  "cudaenvd was told to end");
}

} // namespace

seconds ladder_deadline(bool full, std::size_t gpus) {
    const auto more = static_cast<int>(std::clamp<std::size_t>(gpus, 1, k_most_gpus) - 1);
    return full ? k_full + more * k_full_each : k_quick + more * k_quick_each;
}

Result<ProbeRun> run_probe(const Activation& activation, const ProbeWishes& wishes,
                           const protocol::Caller& caller, Machine& machine, int stop_event) {
    const std::string program = probe_beside_this_program();
    if (program.empty()) {
        return unavailable("no-probe", "cudaenv-probe is not beside cudaenvd",
                           "install cudaenv anew: it comes with cudaenvd");
    }
    if (is_stopped(stop_event)) { // while it waited for its turn
        return stopped();
    }
    host::DiskFileSystem files;
    host::ChildProcessRunner processes(stop_event);
    const auto& environment = activation.situation.environment;
    const auto library_path =
        host::loader_directories(caller.variable("LD_LIBRARY_PATH").value_or(""), caller.cwd);
    Tools tools = tools_of(activation, files, machine, caller);

    ProbeRun run;
    run.host = host_of_files(files, caller);
    run.host.compilers = activation.situation.host.compilers;
    run.host.toolkits = activation.situation.host.toolkits;
    run.libraries = host::probe_libraries(files, environment, tools.layout, library_path);
    run.grounds =
        grounds_before(files, run.libraries, wishes.full,
                       tools.layout ? tools.layout->bin + "/nvcc" : "", run.host.compilers);
    // Before the child runs: libcuda makes nodes for root.
    const bool device_files = host::has_gpu_device(files);
    const host::ProbeRequest request{wishes.full ? host::ProbeDepth::Full : host::ProbeDepth::Quick,
                                     wishes.all_gpus, run.libraries, ::getpid()};
    run.report = host::read_probe_report(processes.run(
        {{program, "--ladder", host::write_probe_request(request)},
         as_list({caller.environment.begin(), caller.environment.end()}, wishes, caller)},
        ladder_deadline(wishes.full, run.host.gpus.size())));
    if (is_stopped(stop_event)) {
        return stopped();
    }
    plan::ProbeContext context;
    context.host = &run.host;
    if (environment) {
        context.environment = &*environment;
        context.environment_name = environment->prefix.substr(environment->prefix.rfind('/') + 1);
    }
    context.library_path = library_path;
    if (!wishes.all_gpus) {
        context.visible_devices = caller.variable("CUDA_VISIBLE_DEVICES");
    }
    context.device_files = device_files;
    context.passed_over = run.libraries.passed_over;
    context.full = wishes.full;
    context.closed_devices = host::closed_devices();
    context.closed_libraries = host::closed_libraries(environment, library_path);
    host::learn_mig_mode(processes, program, {"LD_LIBRARY_PATH=" + join(library_path, ":")},
                         run.report, run.host.gpus);
    run.ladder = plan::judge_probe(run.report, context);
    if (wishes.build) {
        add_build_rungs(run.report, activation, std::move(tools), wishes, caller,
                        run.host.gpus.size(), processes, stop_event);
        if (is_stopped(stop_event)) {
            return stopped();
        }
        run.outcome = plan::judge_probe(run.report, context);
    } else {
        run.outcome = run.ladder;
    }
    tell_broken_links(run.outcome, run.libraries);
    return run;
}

} // namespace cudaenv::daemon
