#include "daemon/probe/kept_verdict.hpp"

#include "base/fd.hpp"
#include "base/text.hpp"
#include "host/examine.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fcntl.h>
#include <span>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

// What changes the driver's answers, besides the files. NCCL's are of the full ladder alone.
constexpr auto k_answered_by = std::to_array<const char*>(
    {"CUDA_DEVICE_ORDER", "CUDA_DISABLE_PTX_JIT", "CUDA_FORCE_PTX_JIT", "CUDA_MPS_PIPE_DIRECTORY",
     "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "NCCL_P2P_DISABLE", "NCCL_SOCKET_IFNAME"});
// What chooses nvcc and the host compiler, and what they read.
constexpr auto k_built_by = std::to_array<const char*>(
    {"CC", "CPATH", "CPLUS_INCLUDE_PATH", "CUDAHOSTCXX", "CUDA_HOME", "CUDA_PATH", "CXX",
     "LIBRARY_PATH", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "PATH",
     "TORCH_CUDA_ARCH_LIST"});

// One line for each that is set: set and empty is not unset. What LD_LIBRARY_PATH names depends on
// where the shell is.
std::string told(std::span<const char* const> names, const plan::Variables& shell,
                 const std::string& cwd) {
    std::string text;
    for (const char* name : names) {
        if (const auto found = shell.find(name); found != shell.end()) {
            const bool listed = found->first == "LD_LIBRARY_PATH";
            text +=
                found->first + '=' +
                (listed ? join(host::loader_directories(found->second, cwd), ":") : found->second) +
                '\n';
        }
    }
    return text;
}

// `environment`: what programs there are started with; `base`: without our changes, from which what
// is built follows by pins and settings.
host::VerdictQuestion question_of(const project::LoadedProject& project,
                                  const plan::Variables& environment, const plan::Variables& base,
                                  const std::string& cwd) {
    host::VerdictQuestion question;
    question.prefix = project.prefix;
    question.shell = told(k_answered_by, environment, cwd);
    question.building = told(k_built_by, base, cwd);
    for (const plan::EffectivePin& pin : project.pins.pins) {
        question.building += pin.pin.name + ' ' + pin.pin.constraint + '\n';
    }
    for (const plan::EffectiveSetting& setting : project.config.settings()) {
        question.building += setting.key + ' ' + plan::to_toml(setting.value) + '\n';
    }
    return question;
}

host::VerdictQuestion question_of(const project::LoadedProject& project,
                                  const protocol::Caller& caller) {
    return question_of(project, caller.environment, plan::undo(caller.environment), caller.cwd);
}

// What was found, and where something else may be found the next time. A quick probe opens no more
// than the runtime.
std::vector<std::string> files_looked_for(const host::ProbeLibraries& libraries, bool full) {
    std::vector<std::string> paths = libraries.cudart;
    if (full) {
        for (const auto* list :
             {&libraries.nvrtc, &libraries.cublas, &libraries.cudnn, &libraries.nccl}) {
            paths.insert(paths.end(), list->begin(), list->end());
        }
    }
    for (const auto* list : {&libraries.broken_links, &libraries.looked_at}) {
        paths.insert(paths.end(), list->begin(), list->end());
    }
    return paths;
}

std::vector<std::string> files_of_ladder(const ProbeRun& run, bool full) {
    std::vector<std::string> paths = files_looked_for(run.libraries, full);
    for (const facts::ProbeRung& rung : run.report.rungs) {
        if (!rung.path.empty() && rung.step < facts::ProbeStep::Build) {
            paths.push_back(rung.path);
        }
    }
    return paths;
}

// nvcc, and the compilers that it may have been given.
std::vector<std::string> files_of_build(const ProbeRun& run) {
    std::vector<std::string> paths;
    for (const facts::ProbeRung& rung : run.report.rungs) {
        if (!rung.path.empty() && rung.step >= facts::ProbeStep::Build) {
            paths.push_back(rung.path);
        }
    }
    if (!paths.empty()) {
        for (const facts::Compiler& compiler : run.host.compilers) {
            paths.push_back(compiler.path);
        }
    }
    return paths;
}

// "3 min ago", "2 h ago", "5 d ago".
std::string age_text(std::int64_t seconds) {
    constexpr std::int64_t k_minute = 60;
    constexpr std::int64_t k_hour = 60 * k_minute;
    constexpr std::int64_t k_day = 24 * k_hour;
    if (seconds < k_minute) {
        return "just now";
    }
    return seconds < k_hour  ? std::to_string(seconds / k_minute) + " min ago"
           : seconds < k_day ? std::to_string(seconds / k_hour) + " h ago"
                             : std::to_string(seconds / k_day) + " d ago";
}

void name_first_failure(const std::vector<plan::JudgedStep>& steps, host::KeptVerdict& kept) {
    const auto failed =
        std::ranges::find(steps, plan::StepStatus::Fails, &plan::JudgedStep::status);
    if (failed != steps.end()) {
        kept.step = failed->name;
        kept.code = failed->code;
    }
}

host::KeptVerdict ladder_verdict(const plan::ProbeOutcome& ladder) {
    host::KeptVerdict kept;
    kept.verdict = plan::name_of(ladder.verdict);
    kept.summary = ladder.summary;
    name_first_failure(ladder.steps, kept);
    return kept;
}

// The rungs that the ladder alone does not have. None where there was no nvcc to try.
std::optional<host::KeptVerdict> built_verdict(const ProbeRun& run) {
    if (files_of_build(run).empty()) {
        return std::nullopt;
    }
    std::vector<plan::JudgedStep> built = run.outcome.steps;
    std::erase_if(built, [](const plan::JudgedStep& step) {
        return step.name != "build" && step.name != "torch-extension";
    });
    host::KeptVerdict kept;
    kept.depth = host::VerdictDepth::Build;
    kept.verdict = "ok";
    name_first_failure(built, kept);
    if (!kept.step.empty()) {
        const auto failed = std::ranges::find(built, kept.step, &plan::JudgedStep::name);
        kept.verdict = "fails";
        kept.summary = kept.step + ": " + failed->detail;
    }
    return kept;
}

} // namespace

host::VerdictQuestion question_of_shell(const protocol::Caller& caller) {
    host::VerdictQuestion question;
    question.shell = told(k_answered_by, caller.environment, caller.cwd);
    return question;
}

host::VerdictGrounds grounds_before(host::FileSystem& files, const host::ProbeLibraries& libraries,
                                    bool full, const std::string& nvcc,
                                    const std::vector<facts::Compiler>& compilers) {
    std::vector<std::string> paths = files_looked_for(libraries, full);
    paths.push_back(nvcc);
    for (const facts::Compiler& compiler : compilers) {
        paths.push_back(compiler.path);
    }
    return host::grounds_of(files, full ? host::VerdictDepth::Full : host::VerdictDepth::Quick,
                            paths);
}

host::VerdictStore verdicts_of(const protocol::Caller& caller) {
    return host::VerdictStore(
        host::default_cache_directory(caller.environment, caller.variable("HOME").value_or("")));
}

bool keep_verdict(const ProbeRun& run, const project::LoadedProject& project,
                  const ProbeWishes& wishes, const protocol::Caller& caller) {
    if (wishes.all_gpus) {
        return true;
    }
    host::DiskFileSystem files;
    const host::VerdictStore store = verdicts_of(caller);
    const host::VerdictQuestion question = question_of(project, caller);
    const std::int64_t now = std::time(nullptr);
    if (auto built = built_verdict(run)) {
        built->at = now;
        store.keep(files, question, run.grounds, files_of_build(run), *built);
    }
    auto verdict = ladder_verdict(run.ladder);
    verdict.depth = wishes.full ? host::VerdictDepth::Full : host::VerdictDepth::Quick;
    verdict.at = now;
    return store.keep(files, question, run.grounds, files_of_ladder(run, wishes.full), verdict);
}

std::optional<host::KeptVerdict> kept_verdict(const project::LoadedProject& project,
                                              const protocol::Caller& caller) {
    host::DiskFileSystem files;
    return verdicts_of(caller).find(files, question_of(project, caller), std::time(nullptr));
}

std::optional<host::KeptVerdict> kept_verdict(const Activation& activation,
                                              const protocol::Caller& caller) {
    host::DiskFileSystem files;
    auto question = question_of(activation.project, activation.applied.environment,
                                activation.situation.base, caller.cwd);
    question.driver = activation.driver;
    return verdicts_of(caller).find(files, question, std::time(nullptr));
}

std::string verdict_key(const project::LoadedProject& project, const protocol::Caller& caller) {
    host::DiskFileSystem files;
    return host::VerdictStore::key(files, question_of(project, caller));
}

bool is_bad(const host::KeptVerdict& kept) {
    return kept.verdict == "fails" || kept.verdict == "driver-broken" ||
           kept.verdict == "crashed" || kept.verdict == "timeout";
}

std::string in_short(const host::KeptVerdict& kept) {
    std::string text = kept.verdict;
    text += kept.step.empty() ? "" : " at " + kept.step;
    return kept.code.empty() ? text : text + " (" + kept.code + ')';
}

std::string command_for(const host::KeptVerdict& kept) {
    // One that looks less far would not meet it again.
    return kept.depth == host::VerdictDepth::Quick
               ? "cudaenv probe"
               : "cudaenv probe --" + std::string(host::name_of(kept.depth));
}

nlohmann::json kept_to_json(const std::optional<host::KeptVerdict>& kept) {
    if (!kept) {
        return nullptr;
    }
    const std::int64_t age = std::max<std::int64_t>(0, std::time(nullptr) - kept->at);
    const bool fine = kept->verdict == "ok" || kept->verdict == "warns";
    const std::string depth(host::name_of(kept->depth));
    return {{"verdict", kept->verdict},
            {"depth", depth},
            {"step", kept->step.empty() ? nlohmann::json() : nlohmann::json(kept->step)},
            {"code", kept->code.empty() ? nlohmann::json() : nlohmann::json(kept->code)},
            {"summary", kept->summary},
            {"age_seconds", age},
            {"text", in_short(*kept) + ", " +
                         (kept->depth == host::VerdictDepth::Quick ? "" : "--" + depth + ", ") +
                         age_text(age) +
                         (fine ? "" : ": " + kept->summary + "; " + command_for(*kept))}};
}

bool is_news(const std::string& directory, const std::string& text) {
    if (directory.empty()) {
        return false;
    }
    const Fd file(::open((directory + "/driver-told").c_str(),
                         O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    std::string told(4096, '\0');
    const ssize_t size = file ? ::read(file.get(), told.data(), told.size()) : -1;
    if (size < 0) {
        return false;
    }
    told.resize(static_cast<std::size_t>(size));
    return told != text && ::ftruncate(file.get(), 0) == 0 &&
           ::pwrite(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

} // namespace cudaenv::daemon
