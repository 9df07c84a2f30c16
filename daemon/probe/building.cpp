#include "daemon/probe/building.hpp"

#include "base/directory_names.hpp"
#include "base/text.hpp"
#include "host/probe/build_trial.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
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

constexpr std::string_view k_prefix = "cudaenv-trial-";
constexpr std::string_view k_pattern = "cudaenv-trial-XXXXXX";
// A directory that is removed between its creation and its locking is created again.
constexpr int k_most_tries = 8;
// Compilers nest two or three; a deeper directory is not a trial's.
constexpr int k_deepest = 64;

bool is_our_name(std::string_view name) {
    return name.size() == k_pattern.size() && name.starts_with(k_prefix) &&
           std::ranges::all_of(name.substr(k_prefix.size()), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
           });
}

Fd open_directory(int at, const char* name) {
    return Fd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
}

const std::vector<std::string> k_none;

void empty(int directory, int depth) {
    for (const std::string& name : names_in(directory).value_or(k_none)) {
        if (::unlinkat(directory, name.c_str(), 0) == 0 || depth >= k_deepest) {
            continue;
        }
        if (const Fd inner = open_directory(directory, name.c_str())) {
            empty(inner.get(), depth + 1);
            ::unlinkat(directory, name.c_str(), AT_REMOVEDIR);
        }
    }
}

bool is_same_file(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Whether `name` is still what is open.
bool is_still(int directory, int at, const char* name) {
    struct stat opened {};
    struct stat named {};
    return ::fstat(directory, &opened) == 0 &&
           ::fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && is_same_file(opened, named);
}

void remove_if_abandoned(int place, const char* name) {
    const Fd left = open_directory(place, name);
    struct stat status {};
    if (!left || ::fstat(left.get(), &status) != 0 || status.st_uid != ::geteuid() ||
        (status.st_mode & 0077) != 0 || ::flock(left.get(), LOCK_EX | LOCK_NB) != 0 ||
        !is_still(left.get(), place, name)) {
        return;
    }
    empty(left.get(), 0);
    ::unlinkat(place, name, AT_REMOVEDIR);
}

void sweep(const std::string& place) {
    const Fd directory(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) {
        return;
    }
    for (const std::string& name : names_in(directory.get()).value_or(k_none)) {
        if (is_our_name(name)) {
            remove_if_abandoned(directory.get(), name.c_str());
        }
    }
}

// Names without a slash are looked for; of LD_PRELOAD spaces separate too.
std::string with_absolute_paths(const std::string& list, std::string_view separators,
                                const std::string& cwd) {
    std::string text;
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t end = std::min(list.find_first_of(separators, at), list.size());
        const std::string entry = list.substr(at, end - at);
        const bool relative = !entry.starts_with('/') && entry.find('/') != std::string::npos;
        text += relative ? cwd + '/' + entry : entry;
        text += list.substr(end, 1);
        at = end + 1;
    }
    return text;
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

Result<TrialDirectory> TrialDirectory::make(const std::string& parent) {
    std::string problems;
    const bool is_tmp = parent == "/tmp";
    for (const std::string& place :
         is_tmp ? std::vector<std::string>{parent} : std::vector<std::string>{parent, "/tmp"}) {
        if (!place.starts_with('/')) {
            continue;
        }
        sweep(place);
        for (int tries = 0; tries < k_most_tries; ++tries) {
            std::string path = place + '/' + std::string(k_pattern);
            if (::mkdtemp(path.data()) == nullptr) { // 0700
                problems += (problems.empty() ? "" : "; ") + place + ": " + std::strerror(errno);
                break;
            }
            Fd held = open_directory(AT_FDCWD, path.c_str());
            if (held && ::flock(held.get(), LOCK_EX) != 0) {
                held.reset(); // locks do not work there, so it cannot be found abandoned either
                return TrialDirectory(std::move(path), {});
            }
            if (held && is_still(held.get(), AT_FDCWD, path.c_str())) {
                return TrialDirectory(std::move(path), std::move(held));
            }
            ::rmdir(path.c_str()); // as a rule it is gone
        }
    }
    return unavailable("no-directory",
                       problems.empty() ? "/tmp: files created there disappear at once" : problems);
}

TrialDirectory::TrialDirectory(TrialDirectory&& other) noexcept
    : m_path(std::exchange(other.m_path, {})), m_held(std::move(other.m_held)) {}

TrialDirectory::~TrialDirectory() {
    if (m_path.empty()) {
        return;
    }
    // What a child that does not die still writes is left.
    if (const Fd opened = open_directory(AT_FDCWD, m_path.c_str())) {
        empty(opened.get(), 0);
        ::rmdir(m_path.c_str());
    }
}

std::vector<std::string> child_environment(patch::Variables variables,
                                           const protocol::Caller& caller,
                                           const probe::LoaderTokens& tokens) {
    if (const auto found = variables.find("LD_LIBRARY_PATH"); found != variables.end()) {
        found->second = join(probe::loader_directories(found->second, caller.cwd, tokens), ":");
    }
    for (const auto& [name, separators] : {std::pair("LD_PRELOAD", ": "), {"LD_AUDIT", ":"}}) {
        if (const auto found = variables.find(name); found != variables.end()) {
            found->second = with_absolute_paths(found->second, separators, caller.cwd);
        }
    }
    std::vector<std::string> list;
    for (const auto& [name, value] : variables) {
        if (!name.starts_with("CUDAENV_") && !name.starts_with("__")) {
            list.push_back(name + '=' + value);
        }
    }
    return list;
}

} // namespace cudaenv::daemon
