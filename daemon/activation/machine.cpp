#include "daemon/activation/machine.hpp"

#include "base/text.hpp"
#include "daemon/host_of_request.hpp"
#include "host/compilers.hpp"
#include "host/conda_installs.hpp"
#include "host/driver.hpp"
#include "host/environments/environments.hpp"
#include "host/examine.hpp"
#include "host/process.hpp"
#include "host/toolkits.hpp"

#include <ctime>

namespace cudaenv::daemon {

namespace {

// What no file shows: a GPU that was added or removed.
constexpr std::chrono::seconds k_longest{600};

// The variables under which host/ looks for toolkits and compilers, without those of the active
// environment: what it holds is looked at by itself, and the answer then serves every environment.
host::Environment machines_view(const patch::Variables& shell, const std::string& prefix) {
    host::Environment view;
    for (const char* name :
         {"PATH", "MODULEPATH", "CUDA_HOME", "CUDA_PATH", "HOME", "NVHPC_ROOT"}) {
        if (const auto found = shell.find(name); found != shell.end()) {
            view.insert(*found);
        }
    }
    if (const auto path = view.find("PATH"); path != view.end() && !prefix.empty()) {
        std::vector<std::string> kept;
        for (const std::string_view directory : split(path->second, ':')) {
            if (!directory.starts_with(prefix + '/')) {
                kept.emplace_back(directory);
            }
        }
        path->second = join(kept, ":");
    }
    return view;
}

facts::Host look(host::FileSystem& files, const host::Environment& view,
                 const std::string& cache_directory,
                 const std::vector<std::string>& toolkit_directories, Gpus gpus, Depth depth) {
    host::ChildProcessRunner processes;
    const host::SystemIdentity identity = host::system_identity();
    host::VersionCache versions(cache_directory, std::time(nullptr));
    const host::VersionAsker asker{processes, versions, view, std::chrono::seconds(5)};
    facts::Host host;
    host.hostname = identity.hostname;
    host.machine = identity.machine;
    host.compilers = host::find_compilers(files, view, identity.machine, asker,
                                          depth == Depth::Whole ? host::CompilerVersions::Full
                                                                : host::CompilerVersions::Major)
                         .compilers;
    host.toolkits =
        host::find_toolkits(
            files, view, {toolkit_directories, {}, host::value_of(view, "HOME"), identity.machine},
            asker)
            .toolkits;
    if (gpus == Gpus::Needed) {
        auto driver = host::find_driver(files, processes, view,
                                        {probe_beside_this_program(), std::chrono::seconds(3)});
        host.driver = std::move(driver.driver);
        host.gpus = std::move(driver.gpus);
    }
    versions.save();
    return host;
}

} // namespace

facts::Host Machine::host(const patch::Variables& shell, const std::string& prefix,
                          const std::vector<std::string>& toolkit_directories, Gpus gpus,
                          Depth depth) {
    const host::Environment view = machines_view(shell, prefix);
    const std::string cache_directory =
        host::default_cache_directory(shell, host::value_of(shell, "HOME"));
    std::string key = gpus == Gpus::Needed ? "gpus" : "";
    key += depth == Depth::Whole ? "whole" : "";
    for (const auto& [name, value] : view) {
        key += '\n' + name + '=' + value;
    }
    for (const std::string& directory : toolkit_directories) {
        key += '\n' + directory;
    }
    return m_hosts.get(key, m_files, k_longest, [&](host::FileSystem& files) {
        return look(files, view, cache_directory, toolkit_directories, gpus, depth);
    });
}

std::optional<facts::EnvironmentFacts> Machine::environment(const std::string& prefix) {
    if (prefix.empty()) {
        return std::nullopt;
    }
    return m_environments.get(prefix, m_files, k_longest, [&](host::FileSystem& files) {
        return environments::read_environment(files, prefix);
    });
}

std::vector<facts::CondaInstall> Machine::conda(const patch::Variables& shell) {
    host::Environment view;
    std::string key;
    for (const char* name : {"CONDA_ENVS_DIRS", "CONDA_ENVS_PATH", "CONDA_EXE", "CONDA_PREFIX",
                             "HOME", "MAMBA_EXE", "MAMBA_ROOT_PREFIX", "PATH"}) {
        if (const auto found = shell.find(name); found != shell.end()) {
            view.insert(*found);
            key += found->first + '=' + found->second + '\n';
        }
    }
    return m_conda.get(key, m_files, k_longest, [&](host::FileSystem& files) {
        host::NoProcesses processes;
        host::VersionCache versions("", 0);
        const host::VersionAsker asker{processes, versions, view, std::chrono::seconds(1)};
        return host::find_conda(files, view, host::value_of(view, "HOME"), asker).installs;
    });
}

facts::ToolkitLayout Machine::layout(const std::string& toolkit) {
    return m_layouts.get(toolkit, m_files, k_longest, [&](host::FileSystem& files) {
        return environments::layout_of(files, toolkit);
    });
}

} // namespace cudaenv::daemon
