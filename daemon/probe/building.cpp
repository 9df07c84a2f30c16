#include "daemon/probe/building.hpp"

#include "base/text.hpp"
#include "daemon/probe/child_environment.hpp"
#include "daemon/probe/trial_directory.hpp"
#include "host/probe/build_trial.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cudaenv::daemon {

namespace {

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

// The environment's programs before those of the shell, as where it is active.
void put_bin_first(patch::Variables& variables, const std::string& prefix) {
    const std::string bin = prefix + "/bin";
    std::string& path = variables["PATH"];
    const auto entries = split(path, ':');
    if (std::ranges::find(entries, bin) == entries.end()) {
        path = path.empty() ? bin : bin + ':' + path;
    }
}

} // namespace

BuildTools build_tools_of(const Activation& activation, host::FileSystem& files, Machine& machine,
                          const protocol::Caller& caller) {
    BuildTools tools;
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
        activation::CudaChoice choice;
        choice.rung = activation::Rung::System;
        choice.cuda = toolkit->version->major_minor();
        choice.toolkit = *toolkit;
        tools.toolkit = *toolkit;
        tools.layout = machine.layout(toolkit->path);
        const auto composition = activation::compose(activation.situation, choice, tools.layout);
        tools.host_compiler = composition.host_compiler;
        for (const patch::SetVariable& variable : composition.patch.variables) {
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

void add_build_rungs(facts::ProbeReport& report, const Activation& activation, BuildTools tools,
                     const protocol::Caller& caller, std::size_t gpus,
                     host::ProcessRunner& processes, const Waiter& waiter) {
    const auto& environment = activation.situation.environment;
    const std::string place = caller.variable("TMPDIR").value_or("");
    if (auto unfit = probe::unfit_place(place)) {
        report.rungs.push_back(*std::move(unfit));
        return;
    }
    const auto directory = TrialDirectory::make(place);
    if (!directory) {
        report.rungs.push_back(probe::unwritten_trial(directory.error().message));
        return;
    }
    probe::BuildTrial trial;
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
    host::DiskFileSystem files;
    trial.environment =
        child_environment(tools.variables, caller, probe::loader_tokens(files, environment));
    trial.longest_run = ladder_deadline(false, gpus);
    probe::aim(trial, report);
    waiter.tell({"build", std::nullopt});
    report.rungs.push_back(probe::try_program(trial, processes, k_program_deadline));
    if (waiter.is_gone()) {
        return;
    }
    const bool has_torch =
        environment && std::ranges::any_of(environment->frameworks, [](const auto& framework) {
            return framework.name == "torch";
        });
    if (has_torch) {
        waiter.tell({"torch-extension", std::nullopt});
        report.rungs.push_back(probe::try_torch_extension(
            trial, environment->prefix + "/bin/python", processes, k_extension_deadline));
    }
}

} // namespace cudaenv::daemon
