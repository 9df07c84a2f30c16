#include "daemon/probe/kept_verdict.hpp"

#include "base/fd.hpp"
#include "base/file_identity.hpp"
#include "base/json_bytes.hpp"
#include "base/text.hpp"
#include "host/examine.hpp"
#include "solver/facts/probe_rungs.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

// What changes the answers of the driver and of CUDA's libraries, besides the files.
bool is_answered_by(std::string_view name) {
    return name == "LD_LIBRARY_PATH" || protocol::is_read_by_cuda(name);
}

const probe::LoaderTokens k_as_they_are{"$ORIGIN", "$LIB"};

// What chooses nvcc and the host compiler, and what they read; sorted.
constexpr auto k_built_by = std::to_array<std::string_view>(
    {"CC", "CPATH", "CPLUS_INCLUDE_PATH", "CUDAHOSTCXX", "CUDA_HOME", "CUDA_PATH", "CXX",
     "LIBRARY_PATH", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "PATH",
     "TORCH_CUDA_ARCH_LIST"});
static_assert(std::ranges::is_sorted(k_built_by));

bool is_built_by(std::string_view name) {
    return std::ranges::binary_search(k_built_by, name);
}

// One line for each that is set: set and empty is not unset. What LD_LIBRARY_PATH names depends on
// where the shell is; $ORIGIN and the like on the environment, which distinguishes those that ask
// what depends on it.
std::string lines_of(bool (*counts)(std::string_view), const patch::Variables& shell,
                     const std::string& cwd) {
    std::string text;
    for (const auto& [name, value] : shell) {
        if (counts(name)) {
            text += name + '=' +
                    (name == "LD_LIBRARY_PATH"
                         ? join(probe::loader_directories(value, cwd, k_as_they_are), ":")
                         : value) +
                    '\n';
        }
    }
    return text;
}

// `environment`: what programs there are started with; `base`: without our changes, from which what
// is built follows by pins and settings.
probe::VerdictQuestion question_of(const project::LoadedProject& project,
                                   const patch::Variables& environment,
                                   const patch::Variables& base, const std::string& cwd) {
    probe::VerdictQuestion question;
    question.prefix = project.prefix;
    question.shell = shell_text(environment, cwd);
    question.building = lines_of(is_built_by, base, cwd);
    for (const pins::EffectivePin& pin : project.pins.pins) {
        question.building += pin.pin.name + ' ' + pin.pin.constraint + '\n';
    }
    for (const pins::EffectiveSetting& setting : project.config.settings()) {
        question.building += setting.key + ' ' + pins::to_toml(setting.value) + '\n';
    }
    return question;
}

probe::VerdictQuestion question_of(const Asker& asker) {
    return question_of(asker.project, asker.caller.environment, asker.base, asker.caller.cwd);
}

// What was found, and where something else may be found the next time. A quick probe opens no more
// than the runtime.
std::vector<std::string> files_looked_for(const probe::ProbeLibraries& libraries, bool full) {
    std::vector<std::string> paths;
    for (const auto& [step, files] : libraries.files) {
        if (full || facts::is_quick(step)) {
            paths.insert(paths.end(), files.begin(), files.end());
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
        if (!rung.path.empty() && !facts::is_built(rung.step)) {
            paths.push_back(rung.path);
        }
    }
    paths.insert(paths.end(), run.report.loaded.begin(), run.report.loaded.end());
    return paths;
}

// nvcc, and the compilers that it may have been given.
std::vector<std::string> files_of_build(const ProbeRun& run) {
    std::vector<std::string> paths;
    for (const facts::ProbeRung& rung : run.report.rungs) {
        if (!rung.path.empty() && facts::is_built(rung.step)) {
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

const judge::JudgedStep* first_with(const std::vector<judge::JudgedStep>& steps,
                                    judge::StepStatus status) {
    const auto found = std::ranges::find(steps, status, &judge::JudgedStep::status);
    return found != steps.end() ? &*found : nullptr;
}

// What failed; a GPU that is in use only where nothing else did, a warning where nothing at all.
const judge::JudgedStep* worst_of(const std::vector<judge::JudgedStep>& steps) {
    const auto broken = std::ranges::find_if(steps, [](const judge::JudgedStep& step) {
        return step.status == judge::StepStatus::Fails && !step.in_use;
    });
    if (broken != steps.end()) {
        return &*broken;
    }
    const judge::JudgedStep* failed = first_with(steps, judge::StepStatus::Fails);
    return failed != nullptr ? failed : first_with(steps, judge::StepStatus::Warns);
}

// A full ladder that left out rungs beyond the quick one says only what failed there.
probe::VerdictDepth depth_of(const judge::ProbeOutcome& ladder, const probe::KeptVerdict& kept,
                             const ProbeWishes& wishes) {
    const bool wrong_beyond = facts::is_beyond_quick(kept.step);
    const bool whole = std::ranges::none_of(ladder.not_looked_at, facts::is_beyond_quick);
    return wishes.full && (whole || wrong_beyond) ? probe::VerdictDepth::Full
                                                  : probe::VerdictDepth::Quick;
}

probe::KeptVerdict ladder_verdict(const judge::ProbeOutcome& ladder, const ProbeWishes& wishes) {
    probe::KeptVerdict kept;
    kept.verdict = judge::name_of(ladder.verdict);
    kept.summary = ladder.summary;
    kept.left_out = ladder.not_looked_at;
    if (const judge::JudgedStep* worst = worst_of(ladder.steps)) {
        kept.step = worst->name;
        kept.code = worst->code;
        kept.of_the_moment = worst->of_the_moment;
        if (ladder.verdict == judge::ProbeVerdict::Warns) {
            kept.summary = worst->detail;
        }
    }
    kept.depth = depth_of(ladder, kept, wishes);
    return kept;
}

// What cannot be written now can be once there is room again, or another TMPDIR.
bool is_unwritten(const judge::JudgedStep& step) {
    return step.code == "CE364";
}

// The rungs that the ladder alone does not have. None where there was no nvcc to try, and where
// nothing but the place to build in is wrong.
std::optional<probe::KeptVerdict> built_verdict(const ProbeRun& run) {
    if (files_of_build(run).empty()) {
        return std::nullopt;
    }
    probe::KeptVerdict kept;
    std::vector<judge::JudgedStep> built;
    for (const judge::JudgedStep& step : run.outcome.steps) {
        if (step.name == "build" || step.name == "torch-extension") {
            is_unwritten(step) ? kept.left_out.push_back(step.name) : built.push_back(step);
        }
    }
    if (built.empty()) {
        return std::nullopt;
    }
    kept.depth = probe::VerdictDepth::Build;
    kept.verdict = "ok";
    if (const auto* failed = first_with(built, judge::StepStatus::Fails)) {
        kept.verdict = "fails";
        kept.step = failed->name;
        kept.code = failed->code;
        kept.of_the_moment = failed->of_the_moment;
        kept.summary = failed->name + ": " + failed->detail;
    }
    return kept;
}

} // namespace

probe::VerdictQuestion question_of_shell(const protocol::Caller& caller) {
    probe::VerdictQuestion question;
    question.shell = shell_text(caller.environment, caller.cwd);
    return question;
}

std::string shell_text(const patch::Variables& shell, const std::string& cwd) {
    return lines_of(is_answered_by, shell, cwd);
}

probe::VerdictGrounds grounds_before(host::FileSystem& files,
                                     const probe::ProbeLibraries& libraries, bool full,
                                     const std::string& nvcc,
                                     const std::vector<facts::Compiler>& compilers) {
    std::vector<std::string> paths = files_looked_for(libraries, full);
    paths.push_back(nvcc);
    for (const facts::Compiler& compiler : compilers) {
        paths.push_back(compiler.path);
    }
    timespec now{};
    // Files' times may lag by 10 ms: what was changed that early is what the probe then loaded.
    ::clock_gettime(CLOCK_REALTIME, &now);
    auto grounds = probe::grounds_of(
        files, full ? probe::VerdictDepth::Full : probe::VerdictDepth::Quick, paths);
    grounds.began_ns = nanoseconds(now);
    return grounds;
}

probe::VerdictStore verdicts_of(const protocol::Caller& caller) {
    return probe::VerdictStore(
        host::default_cache_directory(caller.environment, caller.variable("HOME").value_or("")));
}

bool changed_since(const probe::VerdictGrounds& grounds, const std::vector<std::string>& loaded) {
    return std::ranges::any_of(loaded, [&](const std::string& path) {
        struct stat status {};
        // An installer gives a file the time of its archive, but not this one.
        return ::stat(path.c_str(), &status) != 0 ||
               nanoseconds(status.st_ctim) >= grounds.began_ns;
    });
}

bool keep_verdict(const ProbeRun& run, const ProbeWishes& wishes, const Asker& asker) {
    host::DiskFileSystem files;
    const probe::VerdictStore store = verdicts_of(asker.caller);
    const probe::VerdictQuestion question = question_of(asker);
    const std::int64_t now = std::time(nullptr);
    if (auto built = built_verdict(run)) {
        built->at = now;
        store.keep(files, question, run.grounds, files_of_build(run), *built);
    }
    auto verdict = ladder_verdict(run.ladder, wishes);
    verdict.at = now;
    const bool full = verdict.depth == probe::VerdictDepth::Full;
    return !changed_since(run.grounds, run.report.loaded) &&
           store.keep(files, question, run.grounds, files_of_ladder(run, full), verdict);
}

Looks::Looks(const protocol::Caller& caller)
    : verdicts(files, verdicts_of(caller)), m_caller(caller) {}

std::optional<probe::KeptVerdict> kept_verdict(const Asker& asker, Looks& looks) {
    return looks.verdicts.find(question_of(asker), std::time(nullptr));
}

std::optional<probe::KeptVerdict> kept_verdict(const Asker& asker) {
    Looks looks(asker.caller);
    return kept_verdict(asker, looks);
}

std::optional<probe::KeptVerdict> bad_verdict(const Activation& activation,
                                              const protocol::Caller& caller, Looks& looks) {
    auto question = question_of(activation.project, activation.applied.environment,
                                activation.situation.base, caller.cwd);
    question.driver = activation.driver;
    auto kept =
        looks.verdicts.find(question, std::time(nullptr), probe::VerdictReader::Wanted::NotWell);
    return kept && is_bad(*kept) ? std::move(kept) : std::nullopt;
}

std::string verdict_key(const Asker& asker) {
    host::DiskFileSystem files;
    return probe::VerdictStore::key(files, question_of(asker));
}

bool is_bad(const probe::KeptVerdict& kept) {
    return kept.verdict == "fails" || kept.verdict == "driver-broken" ||
           kept.verdict == "crashed" || kept.verdict == "timeout";
}

std::string in_short(const probe::KeptVerdict& kept) {
    std::string text = kept.verdict;
    text += kept.step.empty() ? "" : " at " + kept.step;
    return kept.code.empty() ? text : text + " (" + kept.code + ')';
}

std::string command_for(const probe::KeptVerdict& kept) {
    // One that looks less far would not meet it again.
    return kept.depth == probe::VerdictDepth::Quick
               ? "cudaenv probe"
               : "cudaenv probe --" + std::string(probe::name_of(kept.depth));
}

nlohmann::json kept_to_json(const std::optional<probe::KeptVerdict>& kept) {
    if (!kept) {
        return nullptr;
    }
    const std::int64_t age = std::max<std::int64_t>(0, std::time(nullptr) - kept->at);
    // A warning has a cause and a way out, which are nowhere else.
    const std::string how = command_for(*kept) + (kept->verdict == "warns" ? " shows more" : "");
    const std::string depth(probe::name_of(kept->depth));
    return {{"verdict", kept->verdict},
            {"depth", depth},
            {"step", text_or_null(kept->step)},
            {"code", text_or_null(kept->code)},
            {"summary", kept->summary},
            {"age_seconds", age},
            {"text", in_short(*kept) + ", " +
                         (kept->depth == probe::VerdictDepth::Quick ? "" : "--" + depth + ", ") +
                         age_text(age) +
                         (kept->verdict == "ok" ? "" : ": " + kept->summary + "; " + how)}};
}

bool is_news(const std::string& directory, const std::string& topic, const std::string& text) {
    if (directory.empty()) {
        return false;
    }
    const Fd file(::open((directory + '/' + topic + "-told").c_str(),
                         O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    std::string last(4096, '\0');
    const ssize_t size = file ? ::read(file.get(), last.data(), last.size()) : -1;
    if (size < 0) {
        return false;
    }
    last.resize(static_cast<std::size_t>(size));
    return last != text && ::ftruncate(file.get(), 0) == 0 &&
           ::pwrite(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

} // namespace cudaenv::daemon
